import type { Core } from '../src/compose.ts';
import { packWakeups, toWakeups } from '../src/domain/feed/wakeups.ts';
import { delivery } from '../src/jobs/delivery.ts';
import { createWebhookJob } from '../src/jobs/webhooks.ts';
import { tryBatchThenEach, type JobHandler } from './consume-queues.ts';

/** Lines of a feed that one statement reads for a webhook, at most. */
const entriesPerRead = 500;

/**
 * Rings for every agent whom these events concern, and notes what their webhooks have to post. Rings are free to repeat: they say
 * how far the feed goes, no more. A webhook reads its agent's feed like any other reader, so noting may repeat too.
 */
export function deliveryHandler({ repositories, bus, queues }: Core): JobHandler<{ ids: string[] }> {
  const { feed, outbox, presence, webhookFeeds } = repositories;

  async function note(agentIds: readonly string[]): Promise<void> {
    const online = [...(await presence.listOnline(agentIds))];
    let behind = agentIds;
    while (behind.length > 0) {
      const now = Date.now();
      const noted = await webhookFeeds.queueDeliveries(behind, { online, limit: entriesPerRead, now });
      const due = noted.filter((webhook) => webhook.queued > 0);
      if (due.length > 0)
        await queues.enqueue(due.map(({ webhook_id }) => createWebhookJob(webhook_id, now)));
      behind = noted.some(({ entries }) => entries === entriesPerRead) ? agentIds : [];
    }
  }

  async function deliver(ids: readonly string[]): Promise<void> {
    const { positions, with_webhooks } = await feed.readRecipients(ids);
    await bus.publish(packWakeups(toWakeups(positions)));
    if (with_webhooks.length > 0) await note(with_webhooks);
    await outbox.complete(delivery.name, ids);
  }
  return { contract: delivery, handle: ({ ids }) => tryBatchThenEach(ids, deliver) };
}
