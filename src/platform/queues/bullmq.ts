import {
  type BulkJobOptions,
  type Job,
  type Processor,
  type Queue,
  WaitingError,
  type WorkerOptions,
} from 'bullmq';
import { type QueuedJob, type QueueName, queueNames } from '../../jobs/define.ts';
import { coalesceSends } from '../../shared/coalesce.ts';
import type { ErrorLog } from '../../shared/error-log.ts';
import type { Tracing } from '../observability/tracing.ts';
import {
  type Consumer,
  type FailedJob,
  type JobHandler,
  JobPutBack,
  type JobQueues,
  type QueueDepth,
} from './job-queues.ts';

/** The used methods of a BullMQ queue, for any backend. */
export type BullQueue = Pick<Queue, 'add' | 'addBulk' | 'getJob' | 'getJobs' | 'getJobCounts'>;

export type BullProcessor = Processor<unknown, void>;
export type BullWorkerTuning = Omit<WorkerOptions, 'connection' | 'prefix'>;

/** The differences between Redis and PostgreSQL. */
export interface BullBackend {
  /** The queue to add jobs to. Rejects at once when the backend is unavailable. */
  queue(name: QueueName): Promise<BullQueue>;
  /** A running worker. Rejects when the backend is unavailable for ten seconds. */
  worker(name: QueueName, processor: BullProcessor, tuning: BullWorkerTuning): Promise<Consumer>;
  instances(own?: string): Promise<string[]>;
  ping(): Promise<void>;
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A lock of 6 s, checked every 2 s: the jobs of a killed worker are taken over within 10 s, and a worker can block its event loop for about
 * 3 s. Handlers can run twice. A job fails for good only after 50 workers died while running it.
 */
const lockSettings = { lockDuration: 6_000, stalledInterval: 2_000, maxStalledCount: 50 };

/** Failed jobs kept in each queue, for operators. */
const maxFailedJobs = 1_000;

/** The job queues over a BullMQ backend. */
export function createBullQueues(backend: BullBackend, log: ErrorLog, tracing: Tracing): JobQueues {
  const consumers = new Set<Consumer>();
  let closed = false;

  /** Jobs are added together: one by one would cost a commit in PostgreSQL or a round trip to Redis each. */
  const adders = new Map<QueueName, (jobs: readonly QueuedJob[]) => Promise<void>>();
  function adderOf(name: QueueName): (jobs: readonly QueuedJob[]) => Promise<void> {
    const adder = adders.get(name) ?? coalesceSends((jobs) => addTo(name, jobs));
    adders.set(name, adder);
    return adder;
  }

  /** Adds the jobs of one trace at a time, so that each job refers to its own cause. */
  async function addTo(name: QueueName, jobs: QueuedJob[]): Promise<void> {
    const queue = await backend.queue(name);
    const groups = groupJobsBy(jobs, ({ trace }) => trace);
    await Promise.all(
      [...groups].map(([trace, group]) => tracing.runWithin(trace, () => addGroup(queue, group))),
    );
  }

  async function addGroup(queue: BullQueue, jobs: readonly QueuedJob[]): Promise<void> {
    const [first, ...others] = jobs.map((job) => ({
      name: job.name,
      data: job.payload,
      opts: toBullOptions(job),
    }));
    if (!first) return;
    if (others.length > 0) await queue.addBulk([first, ...others]);
    else await queue.add(first.name, first.data, first.opts);
  }

  return {
    async enqueue(jobs, options = {}) {
      if (closed) throw new Error('The job queues are closed');
      for (const job of jobs) assertId(job.id);
      const trace = tracing.current();
      const traced = trace === undefined ? jobs : jobs.map((job) => ({ trace, ...job }));
      const groups = groupJobsBy(traced, ({ queue }) => queue);
      await Promise.all([...groups].map(([name, some]) => adderOf(name)(some)));
      if (options.retryFailed) await Promise.all(jobs.map((job) => restartIfFailed(backend, job)));
    },

    async consume(queue, { concurrency }, handler) {
      const tuning = { ...lockSettings, concurrency, runRetryDelay: 1_000, autorun: false };
      const worker = await backend.worker(queue, createProcessor(queue, handler, log), tuning);
      const consumer: Consumer = {
        async close() {
          await worker.close();
          consumers.delete(consumer);
        },
      };
      consumers.add(consumer);
      return consumer;
    },

    depths: () => Promise.all(queueNames.map((name) => readDepth(backend, name))),
    failures: async (name, limit) => {
      const jobs: (Job | undefined)[] = await (await backend.queue(name)).getJobs('failed', 0, limit - 1);
      return jobs.flatMap((job) => (job ? [toFailedJob(name, job)] : []));
    },
    retry: (name, id) => retryFailed(backend, name, id),
    dashboardQueues: () => Promise.all(queueNames.map((name) => backend.queue(name))),
    instances: (own) => backend.instances(own),
    ping: () => backend.ping(),
    check: () => backend.check(),

    async close() {
      closed = true;
      await Promise.all([...consumers].map((consumer) => consumer.close()));
      await backend.close();
    },
  };
}

/** BullMQ would refuse such an id; checked first because it would fail a whole batch. */
function assertId(id: string): void {
  if (!/^(?!\d+$)[^:]+$/.test(id)) throw new TypeError(`A job id is not a number and has no colon: ${id}`);
}

function groupJobsBy<Key>(jobs: readonly QueuedJob[], keyOf: (job: QueuedJob) => Key): Map<Key, QueuedJob[]> {
  const groups = new Map<Key, QueuedJob[]>();
  for (const job of jobs) {
    const key = keyOf(job);
    const group = groups.get(key);
    if (group) group.push(job);
    else groups.set(key, [job]);
  }
  return groups;
}

function toBullOptions({ id, attempts, backoff_ms, delay_ms }: QueuedJob): BulkJobOptions {
  return {
    jobId: id,
    ...(delay_ms !== undefined && delay_ms > 0 && { delay: delay_ms }),
    attempts,
    backoff: { type: 'exponential', delay: backoff_ms },
    removeOnComplete: true,
    removeOnFail: { count: maxFailedJobs },
  };
}

function createProcessor(queue: QueueName, handler: JobHandler, log: ErrorLog): BullProcessor {
  return async (job, token) => {
    const { id = '', name, data, attemptsMade, opts } = job;
    const attempt = attemptsMade + 1;
    try {
      await handler({ id, name, payload: data, attempt });
    } catch (error) {
      if (error instanceof JobPutBack) {
        await job
          .moveToWait(token)
          .catch((failure: unknown) =>
            log(`cannot return job ${name} ${id}; it is retried after its lock expires`, failure),
          );
        throw new WaitingError();
      }
      if (attempt >= (opts.attempts ?? 1)) {
        log(`a job of queue ${queue} failed for good`, new Error(`${name} ${id}`, { cause: error }));
      }
      throw error;
    }
  };
}

const retryOptions = { resetAttemptsMade: true, resetAttemptsStarted: true };

async function restartIfFailed(
  backend: BullBackend,
  { queue, id }: Pick<QueuedJob, 'queue' | 'id'>,
): Promise<boolean> {
  const job = await (await backend.queue(queue)).getJob(id);
  if (!job || !(await job.isFailed())) return false;
  try {
    await job.retry('failed', retryOptions);
  } catch (error) {
    // Another process has restarted it already.
    if (await job.isFailed()) throw error;
  }
  return true;
}

/** Restarts failed jobs one by one, each with all its attempts; all of them take seconds. */
async function retryFailed(backend: BullBackend, queue: QueueName, id?: string): Promise<number> {
  if (id !== undefined) return (await restartIfFailed(backend, { queue, id })) ? 1 : 0;
  const jobs: (Job | undefined)[] = await (
    await backend.queue(queue)
  ).getJobs('failed', 0, maxFailedJobs - 1);
  let retried = 0;
  for (const job of jobs) {
    if (job?.id !== undefined && (await restartIfFailed(backend, { queue, id: job.id }))) retried += 1;
  }
  return retried;
}

function toFailedJob(queue: QueueName, job: Job): FailedJob {
  const { id = '', name, data, attemptsMade, failedReason, finishedOn } = job;
  return {
    queue,
    id,
    name,
    payload: data,
    attempts: attemptsMade,
    error: failedReason,
    failed_at: finishedOn ?? null,
  };
}

async function readDepth(backend: BullBackend, name: QueueName): Promise<QueueDepth> {
  const queue = await backend.queue(name);
  const [counts, [first]] = await Promise.all([
    queue.getJobCounts('waiting', 'active', 'delayed', 'failed'),
    queue.getJobs('waiting', 0, 0, true) as Promise<(Job | undefined)[]>,
  ]);
  const { waiting = 0, active = 0, delayed = 0, failed = 0 } = counts;
  // It waits since it was due.
  const oldest = first ? first.timestamp + (first.opts.delay ?? 0) : null;
  return { queue: name, waiting, active, delayed, failed, oldest };
}
