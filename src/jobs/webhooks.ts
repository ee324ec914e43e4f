import { z } from 'zod';
import type { JobContract, QueuedJob } from './define.ts';

/** Post what a webhook has to post by now. The rows of its deliveries are the truth; this says when to look at them. */
export const webhookPosting: JobContract<{ version: 1; webhook_id: string }> = {
  name: 'post-webhook',
  queue: 'webhooks',
  payload: z.object({ version: z.literal(1), webhook_id: z.string() }),
  attempts: 3,
  backoff_ms: 1000,
};

/**
 * The entry of the queue for a webhook that has something to post at `due` (ms). Two of the same are one.
 */
export function createWebhookJob(webhook_id: string, due: number, now = Date.now()): QueuedJob {
  const { name, queue, attempts, backoff_ms } = webhookPosting;
  return {
    queue,
    name,
    id: `${name}-${webhook_id}-${due}`,
    payload: { version: 1, webhook_id },
    attempts,
    backoff_ms,
    delay_ms: Math.max(0, due - now),
  };
}
