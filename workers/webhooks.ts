import type { Core } from '../src/compose.ts';
import { type WebhookPacing, webhooksTopic } from '../packages/core/src/domain/webhooks.ts';
import { createWebhookJob, webhookPosting } from '../src/jobs/webhooks.ts';
import type { Receipts } from '../src/realtime/receipts.ts';
import {
  maxAbandonedAtOnce,
  type Webhook,
  webhookDisabled,
  webhookRemoved,
} from '../src/services/webhooks/access.ts';
import type { BackOff } from '../src/shared/back-off.ts';
import { createKeyedMutex } from '../src/shared/keyed-mutex.ts';
import type { JobHandler } from './consume-queues.ts';
import { createAttempts } from './webhook-attempts.ts';

/**
 * Returns the handler that sends the due deliveries of webhooks, for each webhook a few at once and for a limited time, so that a slow
 * receiver delays only its own events. Deliveries are leased: those of a killed worker are sent again.
 */
export function webhookHandler(
  core: Core,
  receipts: Pick<Receipts, 'delivered'>,
  backOff: BackOff,
  pacing: WebhookPacing,
): JobHandler<{ webhook_id: string }> {
  const { db, queues } = core;
  const { webhooks, webhookDeliveries, feed, presence } = db;
  const attempt = createAttempts(core, receipts, pacing);
  const mutex = createKeyedMutex();

  /** Sends one batch of due deliveries. Returns `more` to continue at once, or the minimum pause (ms) that the receiver asked for. */
  async function sendBatch(webhook: Webhook): Promise<'done' | 'more' | number> {
    const { id, agent_id, only_when_offline } = webhook;
    const claimed = await webhookDeliveries.claim(id, Date.now(), pacing.leaseMs, pacing.maxParallel);
    if (claimed.length === 0) return 'done';
    if (only_when_offline && (await presence.listOnline([agent_id])).size > 0) {
      // Nothing is left to attempt, so the next failure is the first one.
      await webhooks.clearFailure(id);
      for (const { event_id } of claimed) await webhookDeliveries.skip(id, event_id);
      return 'more';
    }
    const rows = await feed.readEvents(claimed.map(({ event_id }) => event_id));
    const events = new Map(rows.map((event) => [event.id, event]));
    const outcomes = await Promise.all(
      claimed.map((delivery) => attempt(webhook, delivery, events.get(delivery.event_id))),
    );
    const retryAfterMs = Math.max(...outcomes.map((outcome) => outcome.retryAfterMs));
    return retryAfterMs === 0 && outcomes.some(({ done }) => done) ? 'more' : retryAfterMs;
  }

  async function abandonAll(id: string, why: string): Promise<void> {
    while ((await webhookDeliveries.abandon(id, why, maxAbandonedAtOnce)) === maxAbandonedAtOnce);
  }

  /** Sends batches until nothing is due, a batch fails, the receiver asks for a pause, or `turnMs` has passed. */
  async function sendDue(id: string): Promise<void> {
    const end = Date.now() + pacing.turnMs;
    for (;;) {
      const webhook = await webhooks.find(id);
      if (!webhook?.enabled) {
        backOff.reset(id);
        return abandonAll(id, webhook ? webhookDisabled : webhookRemoved);
      }
      const result = await sendBatch(webhook);
      if (result === 'done') return;
      if (result !== 'more') return queues.enqueue([createWebhookJob(id, backOff.start(id, result))]);
      backOff.reset(id);
      const now = Date.now();
      if (now >= end) return queues.enqueue([createWebhookJob(id, now)]);
    }
  }

  async function handle({ webhook_id }: { webhook_id: string }): Promise<void> {
    const blockedUntil = backOff.blockedUntil(webhook_id);
    if (blockedUntil > Date.now()) return queues.enqueue([createWebhookJob(webhook_id, blockedUntil)]);
    const wasRequested = await mutex.run(webhook_id, () => sendDue(webhook_id));
    if (wasRequested) await queues.enqueue([createWebhookJob(webhook_id, Date.now())]);
  }

  return { contract: webhookPosting, handle };
}

/**
 * Subscribes to messages about webhooks that have something to send because of a request, such as a replay. They end the back-off. The
 * sweep finds webhooks whose message is lost.
 */
export function subscribeToWebhookWakeups({ bus, queues, logger }: Core, backOff: BackOff): void {
  bus.subscribe(webhooksTopic, (id) => {
    backOff.reset(id);
    queues
      .enqueue([createWebhookJob(id, Date.now())])
      .catch((error: unknown) => logger.debug({ err: error }, 'webhook not enqueued; the sweep retries'));
  });
}
