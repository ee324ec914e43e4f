import { type OutboundResponse } from '../../../packages/core/src/domain/outbound.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';
import { requireWebhook } from './access.ts';
import { canSign, signHeaders } from './secrets.ts';

/**
 * Sends an event of type `webhook.test` to a webhook at once, even if it is disabled. The event is in no feed and no delivery log; its
 * cursor is the end of the feed. Call it outside of a transaction, because it waits for the receiver.
 * @throws {DomainError} NOT_FOUND; INVALID_TRANSITION if the secret cannot be read because SECRET_KEY was changed
 */
export async function sendTestEvent(work: ReadWork, agent_id: string, id: string): Promise<OutboundResponse> {
  const webhook = await requireWebhook(work, agent_id, id);
  if (!canSign(work.settings.sealedBox, webhook)) {
    const message = 'The signing secret of this webhook cannot be read; rotate it.';
    throw new DomainError('INVALID_TRANSITION', message);
  }
  const [counter] = await work.db.feed.readCounters([agent_id]);
  const event = {
    type: 'webhook.test',
    id: newId('event'),
    cursor: work.settings.cursors.encodeFeed(agent_id, counter?.last_number ?? 0),
    created_at: work.now,
    data: { webhook_id: id },
  };
  const body = JSON.stringify(event);
  const headers = signHeaders(work.settings.sealedBox, webhook, { event_id: event.id, body, now: work.now });
  return work.settings.webhookSender.send({ url: webhook.url, headers, body });
}
