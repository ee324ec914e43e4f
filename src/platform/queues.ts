import type { QueuedJob, QueueName } from '../jobs/define.ts';

/** What a consumer is handed. A rejection makes the queue try again after a pause. */
export type JobHandler = (job: { id: string; name: string; payload: unknown; attempt: number }) => Promise<void>;

export interface QueueDepth {
  queue: QueueName;
  waiting: number;
  active: number;
  delayed: number;
  failed: number;
}

export interface Consumer {
  /** Stops taking jobs and waits for those under way. */
  close(): Promise<void>;
}

/** BullMQ behind one small interface; the backend is Redis or PostgreSQL, chosen in compose.ts. */
export interface JobQueues {
  /** Adds the jobs, one round trip for each queue concerned. Rejects at once when the connection is down. */
  enqueue(jobs: readonly QueuedJob[]): Promise<void>;
  consume(queue: QueueName, options: { concurrency: number }, handler: JobHandler): Promise<Consumer>;
  depths(): Promise<QueueDepth[]>;
  /** Resolves when the backend answers; rejects with a clear reason otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
