import { type JobContract, type QueueName, queuesOfRole, type WorkerRole } from '../src/jobs/define.ts';
import { type Consumer, JobPutBack, type JobQueues } from '../src/platform/queues/job-queues.ts';

/** A contract together with what does the job. Handlers may run twice for the same subject. */
export interface JobHandler<Payload = unknown> {
  contract: JobContract<Payload>;
  handle(payload: Payload): Promise<void>;
}

/** Told how long a job took, in seconds, and whether it was done. */
export type OnJobEnd = (labels: { job: string; outcome: 'done' | 'failed' }, seconds: number) => void;

/** What a job does with its subjects, all of them or one. */
export type HandleSubjects = (ids: readonly string[]) => Promise<void>;

/** Jobs that wait for others, not for this machine: so many times as many at once as the settings say. */
const waitingFactor: Partial<Record<QueueName, number>> = { webhooks: 8 };

/**
 * Consumes the queues of these roles. A payload that its contract does not read fails the job, which stays for operators.
 * @throws when a queue has no handler, or a job has two.
 */
export async function consumeQueues(
  parts: { queues: JobQueues; concurrency: number; meter: OnJobEnd },
  roles: readonly WorkerRole[],
  handlers: readonly JobHandler[],
): Promise<Consumer[]> {
  const byName = new Map(handlers.map((handler) => [handler.contract.name, handler]));
  if (byName.size < handlers.length) throw new Error('a job has two handlers');
  const consumed = roles.flatMap((role): readonly QueueName[] => queuesOfRole[role]);
  const orphan = consumed.find((queue) => !handlers.some(({ contract }) => contract.queue === queue));
  if (orphan) throw new Error(`the queue ${orphan} has no handler`);

  async function handle(job: { name: string; payload: unknown }): Promise<void> {
    const handler = byName.get(job.name);
    if (!handler) throw new Error(`no handler for the job ${job.name}; it may be of a newer release`);
    const begun = performance.now();
    const ended = (outcome: 'done' | 'failed') =>
      onJobEnd({ job: handler.contract.name, outcome }, (performance.now() - begun) / 1_000);
    try {
      await handler.handle(handler.contract.payload.parse(job.payload));
      ended('done');
    } catch (error) {
      if (!(error instanceof JobPutBack)) ended('failed');
      throw error;
    }
  }
  const { queues, concurrency, meter: onJobEnd } = parts;
  return Promise.all(
    consumed.map((queue) =>
      queues.consume(queue, { concurrency: concurrency * (waitingFactor[queue] ?? 1) }, handle),
    ),
  );
}

/**
 * Does a batch at once; when that fails, does each subject alone, so that one bad subject holds up no other.
 * @throws the first fault, after every other subject is done.
 */
export async function tryBatchThenEach(ids: readonly string[], handle: HandleSubjects): Promise<void> {
  try {
    await handle(ids);
  } catch (error) {
    if (ids.length === 1) throw error;
    const results = await Promise.allSettled(ids.map((id) => handle([id])));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }
}
