import type { QueuedJob, QueueName } from '../../jobs/define.ts';

/** What a consumer is handed; `attempt` counts from 1. A rejection makes the queue try again after a pause. */
export type JobHandler = (job: {
  id: string;
  name: string;
  payload: unknown;
  attempt: number;
}) => Promise<void>;

/** Thrown by a handler that leaves the rest of its job to another consumer, at once: it is no failure, and counts as no attempt. */
export class JobPutBack extends Error {
  override name = 'JobPutBack';
}

export interface QueueDepth {
  queue: QueueName;
  waiting: number;
  active: number;
  delayed: number;
  failed: number;
  /** When the oldest job was added that could be done now; null when there is none. Milliseconds since the epoch. */
  oldest: number | null;
}

/** A job that failed for good. It holds ids only, and the message of what went wrong. */
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
  /** Stops taking jobs and waits for those under way. */
  close(): Promise<void>;
}

/** BullMQ behind one small interface; the backend is Redis or PostgreSQL, chosen in compose.ts. */
export interface JobQueues {
  /**
   * Adds the jobs, one round trip for each queue concerned. Rejects at once when the connection is down, and after two
   * seconds when the backend hangs; some of the jobs may then stand in their queue all the same.
   *
   * A job whose id is in the queue already (waiting, delayed, active or failed for good) is ignored; the id of a completed
   * job is free again. With `retry_failed` (for the outbox sweep) a job that had failed for good starts anew instead, with
   * all its attempts; that costs a round trip more for each job.
   */
  enqueue(jobs: readonly QueuedJob[], options?: { retryFailed?: boolean }): Promise<void>;
  /**
   * Hands the jobs of a queue to the handler, `concurrency` at a time. Rejects when the backend cannot be reached within ten
   * seconds; once it stands, a consumer outlives every outage. The jobs of a consumer that was killed go to another one
   * within about ten seconds.
   */
  consume(queue: QueueName, options: { concurrency: number }, handler: JobHandler): Promise<Consumer>;
  depths(): Promise<QueueDepth[]>;
  /** The newest jobs of a queue that failed for good. */
  failures(queue: QueueName, limit: number): Promise<FailedJob[]>;
  /**
   * Has jobs that failed for good started anew, with all their attempts: the one of this id, or all of the queue.
   * @returns how many. One that is not there, or has not failed, is none.
   */
  retry(queue: QueueName, id?: string): Promise<number>;
  /** The queues as BullMQ knows them, for its dashboard. Rejects when the backend is away. */
  dashboardQueues(): Promise<object[]>;
  /**
   * Who uses these queues: installations that said so in the last 20 s. With `own`, this one says so first. Nobody else can where they
   * are in a database. Rejects when the backend is away.
   */
  instances(own?: string): Promise<string[]>;
  /** Resolves when the backend answers, waiting at most two seconds for it; rejects with a clear reason otherwise. */
  ping(): Promise<void>;
  /**
   * The same, and of Redis that jobs can be added: one that is full, cannot write to its disk, or has become a replica answers and takes none.
   */
  check(): Promise<void>;
  /** Closes the consumers that are still open, then the connections. */
  close(): Promise<void>;
}
