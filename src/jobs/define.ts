import type { z } from 'zod';

/** The queues of the service. */
export const queueNames = [
  'delivery',
  'webhooks',
  'remote-delivery',
  'notifications',
  'search-indexing',
  'attachment-scanning',
  'maintenance',
  'agent-erasure',
  'agent-export',
] as const;

export type QueueName = (typeof queueNames)[number];

/**
 * The queues that a worker process consumes for each of its WORKER_ROLES. Webhooks, notifications, erasures and exports have separate queues because
 * their jobs are slow.
 */
export const queuesOfRole = {
  delivery: ['delivery', 'webhooks', 'remote-delivery', 'notifications'],
  'search-indexing': ['search-indexing'],
  'attachment-scanning': ['attachment-scanning'],
  maintenance: ['maintenance', 'agent-erasure', 'agent-export'],
} as const satisfies Record<string, readonly QueueName[]>;

export type WorkerRole = keyof typeof queuesOfRole;

/** The contract between the producer and the consumer of a job. Handlers are in workers/. */
export interface JobContract<Payload> {
  name: string;
  queue: QueueName;
  /** Parsed on arrival: a queue can hold jobs of an older release. */
  payload: z.ZodType<Payload>;
  /** Attempts within the queue; a job that still fails is enqueued again by the outbox sweep. */
  attempts: number;
  /** Pause after the first failed attempt, in milliseconds; doubled after each further one. */
  backoff_ms: number;
}

/** A job as it is stored in a queue. */
export interface QueuedJob {
  queue: QueueName;
  name: string;
  /** Unique over all queues and derived from the subject: a second job with the same id is ignored. Must not contain `:`. */
  id: string;
  payload: unknown;
  attempts: number;
  backoff_ms: number;
  /** Delay before the job becomes available, in milliseconds; default 0. */
  delay_ms?: number;
  /** `traceparent` of the cause (W3C Trace Context), if it is traced. */
  trace?: string;
}

/** Returns the queue entry for a subject that is due at a time (ms). The queue keeps one entry for each subject and time. */
export function createDueJob<Payload>(
  { name, queue, attempts, backoff_ms }: JobContract<Payload>,
  subject: string,
  payload: Payload,
  { due, now }: { due: number; now: number },
): QueuedJob {
  const delay_ms = Math.max(0, due - now);
  return { queue, name, id: `${name}-${subject}-${due}`, payload, attempts, backoff_ms, delay_ms };
}
