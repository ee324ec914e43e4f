import { z } from 'zod';
import type { JobContract, QueuedJob } from './define.ts';

/** Sends the due deliveries of a webhook. The delivery rows are authoritative; the job only says when to look at them. */
export const webhookPosting: JobContract<{ version: 1; webhook_id: string }> = {
  name: 'post-webhook',
  queue: 'webhooks',
  payload: z.object({ version: z.literal(1), webhook_id: z.string() }),
  attempts: 3,
  backoff_ms: 1000,
};

/** Returns the queue entry for a webhook with a delivery due at `due` (ms). The queue keeps one entry for each webhook and due time. */
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
