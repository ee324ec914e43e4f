import { type Posted } from '../domain/courier.ts';
import { newId } from '../domain/ids.ts';
import type { Cursors } from '../domain/cursors.ts';
import type { Administration } from '../unit-of-work.ts';
import { webhookFor } from './webhook-access.ts';
import { signedHeaders } from './webhook-secrets.ts';

/**
 * Posts an event of the type `webhook.test` to a webhook at once, also to one that is disabled. It stands in no feed and in no log;
 * its cursor is where the feed ends. Call it outside of a transaction: it waits for the receiver.
 * @throws {DomainError} NOT_FOUND
 */
export async function testWebhook(
  work: Pick<Administration, 'webhooks' | 'feed' | 'vault' | 'courier' | 'now'> & { cursors: Cursors },
  agent_id: string,
  id: string,
): Promise<Posted> {
  const webhook = await webhookFor(work, agent_id, id);
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
