import type { z } from 'zod';

/** The queues of the service. */
export const queueNames = [
  'delivery',
  'webhooks',
  'search-indexing',
  'attachment-scanning',
  'maintenance',
  'agent-erasure',
  'agent-export',
] as const;

export type QueueName = (typeof queueNames)[number];

/** What a worker process consumes for each of its WORKER_ROLES. Posting waits for strangers, erasing and exporting take long, so they
 * have queues of their own. */
export const queuesOfRole = {
  delivery: ['delivery', 'webhooks'],
  'search-indexing': ['search-indexing'],
  'attachment-scanning': ['attachment-scanning'],
  maintenance: ['maintenance', 'agent-erasure', 'agent-export'],
} as const satisfies Record<string, readonly QueueName[]>;

export type WorkerRole = keyof typeof queuesOfRole;

/** What producer and consumer of a job agree on. A contract is a leaf: its handler lives in workers/. */
export interface JobContract<Payload> {
  name: string;
  queue: QueueName;
  /** Shape of the payload. Parsed on arrival: a queue may hold jobs of an older release. */
  payload: z.ZodType<Payload>;
  /** Tries within the queue; what still fails then waits for the outbox sweep. */
  attempts: number;
  /** First pause between tries, in milliseconds; doubled each time. */
  backoff_ms: number;
}

/** A job as it stands in a queue. */
export interface QueuedJob {
  queue: QueueName;
  name: string;
  /** Unique over all queues and built from the id of what the job is about: a second job of the same id is ignored. No `:`. */
  id: string;
  payload: unknown;
  attempts: number;
  backoff_ms: number;
  /** How long it waits before it may be done, in milliseconds; not at all unless told. */
  delay_ms?: number;
  /** The traceparent of what caused it, where that is traced. */
  trace?: string;
}
