import { z } from 'zod';
import { createDueJob, type JobContract, type QueueName, type QueuedJob } from './define.ts';

type PostingJob = JobContract<{ version: 1; subscription_id: string }>;

const posting = (name: string, queue: QueueName): PostingJob => ({
  name,
  queue,
  payload: z.object({ version: z.literal(1), subscription_id: z.string() }),
  attempts: 3,
  backoff_ms: 1000,
});

/** Sends what is due to one receiver: a subscription of MCP or a push notification config of A2A. The row is authoritative; the job only says when to look at it. */
export const subscriptionPosting = posting('post-events', 'webhooks');

/** The same for a thread with a remote agent, and for its card. These requests take longer. */
export const remoteDelivery = posting('deliver-remote', 'remote-delivery');

/** Whether a receiver is a thread with a remote agent, or a remote agent. */
const isRemoteReceiver = (id: string): boolean => id.startsWith('thd_') || id.startsWith('agt_');

/** Returns the queue entry for a receiver that is due at `due` (ms). */
export function createPostingJob(subscription_id: string, due: number, now = Date.now()): QueuedJob {
  const contract = isRemoteReceiver(subscription_id) ? remoteDelivery : subscriptionPosting;
  return createDueJob(contract, subscription_id, { version: 1, subscription_id }, { due, now });
}

interface PostingParts {
  queues: { enqueue(jobs: readonly QueuedJob[]): Promise<unknown> };
  logger: { debug(about: object, text: string): void };
}

/** Enqueues a receiver that is due now. The sweep finds it if this fails. */
export function enqueuePosting({ queues, logger }: PostingParts, id: string): void {
  queues
    .enqueue([createPostingJob(id, Date.now())])
    .catch((error: unknown) => logger.debug({ err: error }, `${id} not enqueued; the sweep retries`));
}
