import { z } from 'zod';
import { createDueJob, type JobContract, type QueuedJob } from './define.ts';

/** Sends the due deliveries of a webhook. The delivery rows are authoritative; the job only says when to look at them. */
export const webhookPosting: JobContract<{ version: 1; webhook_id: string }> = {
  name: 'post-webhook',
  queue: 'webhooks',
  payload: z.object({ version: z.literal(1), webhook_id: z.string() }),
  attempts: 3,
  backoff_ms: 1000,
};

/** Returns the queue entry for a webhook with a delivery due at `due` (ms). */
export function createWebhookJob(webhook_id: string, due: number, now = Date.now()): QueuedJob {
  return createDueJob(webhookPosting, webhook_id, { version: 1, webhook_id }, { due, now });
}
