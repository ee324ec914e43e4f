import { type OutboundResponse } from '../../domain/outbound.ts';
import type { Cursors } from '../../domain/feed/cursors.ts';
import { DomainError } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import { requireWebhook } from './access.ts';
import { canSign, signHeaders } from './secrets.ts';

/**
 * Posts an event of the type `webhook.test` to a webhook at once, also to one that is disabled. It stands in no feed and in no log;
 * its cursor is where the feed ends. Call it outside of a transaction: it waits for the receiver.
 * @throws {DomainError} NOT_FOUND; INVALID_TRANSITION when SECRET_KEY was changed, so that nothing can be signed
 */
export async function sendTestEvent(
  work: Pick<SystemWork, 'webhooks' | 'feed' | 'sealedBox' | 'webhookSender' | 'now'> & { cursors: Cursors },
  agent_id: string,
  id: string,
): Promise<OutboundResponse> {
  const webhook = await requireWebhook(work, agent_id, id);
  if (!canSign(work.sealedBox, webhook)) {
    const message = 'The signing secret of this webhook cannot be read; make a new one.';
    throw new DomainError('INVALID_TRANSITION', message);
  }
  const [head] = await work.feed.readCounters([agent_id]);
  const event = {
    type: 'webhook.test',
    id: newId('event'),
    cursor: work.cursors.encodeFeed(agent_id, head?.last_number ?? 0),
    created_at: work.now,
    data: { webhook_id: id },
  };
  const body = JSON.stringify(event);
  const headers = signHeaders(work.sealedBox, webhook, { event_id: event.id, body, now: work.now });
  return work.webhookSender.send({ url: webhook.url, headers, body });
}
