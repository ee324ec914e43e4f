import type { z } from 'zod';

/** The queues of the service. A worker process consumes those that its WORKER_ROLES name. */
export const queueNames = ['delivery', 'search-indexing', 'attachment-scanning', 'maintenance'] as const;

export type QueueName = (typeof queueNames)[number];

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
}
