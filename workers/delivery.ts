import type { Core } from '../src/compose.ts';
import { packWakeups, toWakeups } from '../packages/core/src/domain/feed/wakeups.ts';
import { createIndexingJob, delivery, messageDelivery } from '../src/jobs/outbox-jobs.ts';
import { createPostingJob } from '../src/jobs/posting.ts';
import { createWebhookJob } from '../src/jobs/webhooks.ts';
import { answerAsEcho, echoAgentId } from '../src/services/agents/echo.ts';
import { handleRows, type HandleSubjects, type JobHandler } from './consume-queues.ts';

/** Maximum number of feed entries that one statement reads for a webhook. */
const entriesPerRead = 500;

/**
 * Returns the handlers that publish wake-ups for the recipients of events, queue deliveries for their webhooks, and answer as the echo
 * agent. All of this can repeat safely: a wake-up only carries feed positions, a webhook reads its agent's feed from its own position, and
 * the echo looks for its answer first. New messages are indexed then, by the job that completes their rows.
 */
export function deliveryHandlers({
  config,
  db,
  unitOfWork,
  bus,
  queues,
}: Core): JobHandler<{ ids: string[] }>[] {
  const { eventSubscriptions, feed, outbox, presence, webhookFeeds } = db;

  async function queueDeliveries(agentIds: readonly string[]): Promise<void> {
    const online = [...(await presence.listOnline(agentIds))];
    let pending = agentIds;
    while (pending.length > 0) {
      const now = Date.now();
      const noted = await webhookFeeds.queueDeliveries(pending, { online, limit: entriesPerRead, now });
      const due = noted.filter((webhook) => webhook.queued > 0);
      if (due.length > 0)
        await queues.enqueue(due.map(({ webhook_id }) => createWebhookJob(webhook_id, now)));
      pending = noted.some(({ entries }) => entries === entriesPerRead) ? agentIds : [];
    }
  }

  async function deliver(ids: readonly string[]): Promise<void> {
    const { positions, with_webhooks, thread_ids } = await feed.readRecipients(ids);
    await bus.publish(packWakeups(toWakeups(positions)));
    if (with_webhooks.length > 0) await queueDeliveries(with_webhooks);
    const now = Date.now();
    const receivers = await eventSubscriptions.listReceivers(Object.keys(positions), thread_ids, now);
    await queues.enqueue(receivers.map((id) => createPostingJob(id, now)));
    if (config.ECHO_AGENT && echoAgentId in positions) await answerAsEcho(unitOfWork, ids);
  }
  const deliverRows = (job: string, ids: readonly string[], complete: HandleSubjects) =>
    handleRows(ids, { handle: deliver, complete, split: (some) => outbox.split(job, some) });

  /** An entry that failed for good is restarted: the row is due again. A queue that takes no jobs is no fault of these events. */
  async function deliverMessages(ids: readonly string[]): Promise<void> {
    const delivered: string[] = [];
    try {
      await deliverRows(messageDelivery.name, ids, async (some) => void delivered.push(...some));
    } finally {
      if (delivered.length > 0) await queues.enqueue([createIndexingJob(delivered)], { retryFailed: true });
    }
  }
  return [
    {
      contract: delivery,
      handle: ({ ids }) => deliverRows(delivery.name, ids, (some) => outbox.complete(delivery.name, some)),
    },
    { contract: messageDelivery, handle: ({ ids }) => deliverMessages(ids) },
  ];
}
