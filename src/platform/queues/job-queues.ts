import type { QueuedJob, QueueName } from '../../jobs/define.ts';

/** A job for a consumer; `attempt` counts from 1. A rejection makes the queue retry after a delay. */
export type JobHandler = (job: {
  id: string;
  name: string;
  payload: unknown;
  attempt: number;
}) => Promise<void>;

/** Thrown by a handler to give the rest of its job to another consumer at once. It counts neither as a failure nor as an attempt. */
export class JobPutBack extends Error {
  override name = 'JobPutBack';
}

export interface QueueDepth {
  queue: QueueName;
  waiting: number;
  active: number;
  delayed: number;
  failed: number;
  /** Since when the next job is ready to run, in milliseconds since the epoch; null when there is none. */
  oldest: number | null;
}

/** A job that failed for good: ids only, and the error message. */
export interface FailedJob {
  queue: QueueName;
  id: string;
  name: string;
  payload: unknown;
  attempts: number;
  error: string;
  /** Milliseconds since the epoch. */
  failed_at: number | null;
}

export interface Consumer {
  /** Stops taking jobs and waits for running ones. */
  close(): Promise<void>;
}

/** The job queues, independent of the backend: BullMQ on Redis or PostgreSQL. */
export interface JobQueues {
  /**
   * Adds the jobs, with one round trip per queue. Rejects at once without a connection, and after two seconds without a response; some jobs
   * may be in their queue then.
   * A job whose id is in the queue (waiting, delayed, active or failed for good) is ignored; the id of a completed job is free. With
   * `retryFailed` (for the outbox sweep) a job that failed for good restarts with all its attempts, which costs one more round trip per job.
   */
  enqueue(jobs: readonly QueuedJob[], options?: { retryFailed?: boolean }): Promise<void>;
  /**
   * Runs the handler for jobs of a queue, `concurrency` at a time. Rejects when the backend is unavailable for ten seconds. A running
   * consumer survives every outage. Another consumer takes over the jobs of a killed one within about ten seconds.
   */
  consume(queue: QueueName, options: { concurrency: number }, handler: JobHandler): Promise<Consumer>;
  depths(): Promise<QueueDepth[]>;
  /** The newest jobs that failed for good. */
  failures(queue: QueueName, limit: number): Promise<FailedJob[]>;
  /**
   * Restarts jobs that failed for good, with all their attempts: the one with this id, or all of the queue.
   * @returns the number of restarted jobs.
   */
  retry(queue: QueueName, id?: string): Promise<number>;
  /** The BullMQ queues, for its dashboard. Rejects when the backend is unavailable. */
  dashboardQueues(): Promise<object[]>;
  /**
   * The instances that registered here in the last 20 s. With `own`, registers this one first. In a database only this instance can use the
   * queues. Rejects when the backend is unavailable.
   */
  instances(own?: string): Promise<string[]>;
  /** Resolves when the backend responds within two seconds; rejects with the reason. */
  ping(): Promise<void>;
  /** Like `ping`, and checks for Redis that jobs can be added, and that none is evicted: it may be full, unable to write to disk, or a replica. */
  check(): Promise<void>;
  /** Closes the open consumers, then the connections. */
  close(): Promise<void>;
}
