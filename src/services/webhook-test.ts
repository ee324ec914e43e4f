import { type Posted } from '../domain/courier.ts';
import type { Cursors } from '../domain/cursors.ts';
import { DomainError } from '../domain/errors.ts';
import { newId } from '../domain/ids.ts';
import type { Administration } from '../unit-of-work.ts';
import { webhookFor } from './webhook-access.ts';
import { canSign, signedHeaders } from './webhook-secrets.ts';

/**
 * Posts an event of the type `webhook.test` to a webhook at once, also to one that is disabled. It stands in no feed and in no log;
 * its cursor is where the feed ends. Call it outside of a transaction: it waits for the receiver.
 * @throws {DomainError} NOT_FOUND; INVALID_TRANSITION when SECRET_KEY was changed, so that nothing can be signed
 */
export async function testWebhook(
  work: Pick<Administration, 'webhooks' | 'feed' | 'vault' | 'courier' | 'now'> & { cursors: Cursors },
  agent_id: string,
  id: string,
): Promise<Posted> {
  const webhook = await webhookFor(work, agent_id, id);
  if (!canSign(work.vault, webhook)) {
    const message = 'The signing secret of this webhook cannot be read; make a new one.';
    throw new DomainError('INVALID_TRANSITION', message);
  }
  const [head] = await work.feed.heads([agent_id]);
  const event = {
    type: 'webhook.test',
    id: newId('event'),
    cursor: work.cursors.encodeFeed(agent_id, head?.last_number ?? 0),
    created_at: work.now,
    data: { webhook_id: id },
  };
  const body = JSON.stringify(event);
  const headers = signedHeaders(work.vault, webhook, { event_id: event.id, body, now: work.now });
  return work.courier.post({ url: webhook.url, headers, body });
}
