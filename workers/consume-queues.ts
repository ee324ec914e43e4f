import { type JobContract, type QueueName, queuesOfRole, type WorkerRole } from '../src/jobs/define.ts';
import { type Consumer, JobPutBack, type JobQueues } from '../src/platform/queues/job-queues.ts';

/** A job contract and its handler. A handler can run more than once for a subject. */
export interface JobHandler<Payload = unknown> {
  contract: JobContract<Payload>;
  handle(payload: Payload): Promise<void>;
}

/** Receives the duration (seconds) and the outcome of each job. */
export type OnJobEnd = (labels: { job: string; outcome: 'done' | 'failed' }, seconds: number) => void;

/** Handles all subjects of a job, or one of them. */
export type HandleSubjects = (ids: readonly string[]) => Promise<void>;

/** Multiplies the concurrency of queues whose jobs mostly wait for remote servers. */
const waitingFactor: Partial<Record<QueueName, number>> = {
  webhooks: 8,
  notifications: 8,
  'remote-delivery': 8,
};

/**
 * Consumes the queues of these roles. An invalid payload fails the job, which stays in the queue for operators.
 * @throws if a queue has no handler, or a job has two
 */
export async function consumeQueues(
  parts: { queues: JobQueues; concurrency: number; onJobEnd: OnJobEnd },
  roles: readonly WorkerRole[],
  handlers: readonly JobHandler[],
): Promise<Consumer[]> {
  const byName = new Map(handlers.map((handler) => [handler.contract.name, handler]));
  if (byName.size < handlers.length) throw new Error('a job has two handlers');
  const { queues, concurrency, onJobEnd } = parts;
  const consumed = roles.flatMap((role): readonly QueueName[] => queuesOfRole[role]);
  const orphan = consumed.find((queue) => !handlers.some(({ contract }) => contract.queue === queue));
  if (orphan) throw new Error(`the queue ${orphan} has no handler`);

  async function handle(job: { name: string; payload: unknown }): Promise<void> {
    const handler = byName.get(job.name);
    if (!handler) throw new Error(`the job ${job.name} has no handler; it may come from a newer release`);
    const startedAt = performance.now();
    const reportEnd = (outcome: 'done' | 'failed') =>
      onJobEnd({ job: handler.contract.name, outcome }, (performance.now() - startedAt) / 1_000);
    try {
      await handler.handle(handler.contract.payload.parse(job.payload));
      reportEnd('done');
    } catch (error) {
      if (!(error instanceof JobPutBack)) reportEnd('failed');
      throw error;
    }
  }

  return Promise.all(
    consumed.map((queue) =>
      queues.consume(queue, { concurrency: concurrency * (waitingFactor[queue] ?? 1) }, handle),
    ),
  );
}

/**
 * Handles a batch at once; if that fails, handles each subject separately, so that one bad subject does not block the others.
 * @throws the first error, after all subjects were handled
 */
async function tryBatchThenEach(ids: readonly string[], handle: HandleSubjects): Promise<void> {
  try {
    await handle(ids);
  } catch (error) {
    if (ids.length === 1) throw error;
    const results = await Promise.allSettled(ids.map((id) => handle([id])));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }
}

/** The steps of a job whose outbox rows can have several subjects. */
export interface RowSteps {
  handle: HandleSubjects;
  /** Removes the rows whose subjects are all among these. */
  complete: HandleSubjects;
  /** Gives each subject of these rows a row of its own. */
  split: HandleSubjects;
}

/**
 * As `tryBatchThenEach`, for outbox rows with several subjects: before each subject is handled separately, it gets a row of its own.
 * @throws the first error, after all subjects were handled
 */
export async function handleRows(
  ids: readonly string[],
  { handle, complete, split }: RowSteps,
): Promise<void> {
  let splitting: Promise<void> | undefined;
  await tryBatchThenEach(ids, async (some) => {
    if (some.length < ids.length) {
      splitting ??= split(ids);
      await splitting;
    }
    await handle(some);
    await complete(some);
  });
}
