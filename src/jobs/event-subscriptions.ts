import { z } from 'zod';
import type { JobContract, QueuedJob } from './define.ts';

/** Sends the due events of a subscription. The row is authoritative; the job only says when to look at it. */
export const subscriptionPosting: JobContract<{ version: 1; subscription_id: string }> = {
  name: 'post-events',
  queue: 'webhooks',
  payload: z.object({ version: z.literal(1), subscription_id: z.string() }),
  attempts: 3,
  backoff_ms: 1000,
};

/** Returns the queue entry for a subscription that is due at `due` (ms). The queue keeps one entry for each due time. */
export function createSubscriptionJob(subscription_id: string, due: number, now = Date.now()): QueuedJob {
  const { name, queue, attempts, backoff_ms } = subscriptionPosting;
  const payload = { version: 1, subscription_id };
  const delay_ms = Math.max(0, due - now);
  return { queue, name, id: `${name}-${subscription_id}-${due}`, payload, attempts, backoff_ms, delay_ms };
}
