import { z } from 'zod';
import { createDueJob, type JobContract, type QueuedJob } from './define.ts';

/** Looks at the pending items of a person. The row of the settings is authoritative; the job only says when to look at it. */
export const notificationCheck: JobContract<{ version: 1; account_id: string }> = {
  name: 'check-waiting',
  queue: 'notifications',
  payload: z.object({ version: z.literal(1), account_id: z.string() }),
  attempts: 3,
  backoff_ms: 1_000,
};

/** Sends a message to a person. The row of the message is authoritative. */
export const notificationSending: JobContract<{ version: 1; message_id: string }> = {
  name: 'send-notification',
  queue: 'notifications',
  payload: z.object({ version: z.literal(1), message_id: z.string() }),
  attempts: 3,
  backoff_ms: 1_000,
};

interface Due {
  /** Milliseconds. */
  due: number;
  now?: number;
}

/** Returns the queue entry for a person who is due at a time. */
export function createCheckJob(account_id: string, { due, now = Date.now() }: Due): QueuedJob {
  return createDueJob(notificationCheck, account_id, { version: 1, account_id }, { due, now });
}

/** Returns the queue entry for a message that is due at a time. */
export function createSendingJob(message_id: string, { due, now = Date.now() }: Due): QueuedJob {
  return createDueJob(notificationSending, message_id, { version: 1, message_id }, { due, now });
}
