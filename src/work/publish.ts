import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { packWakeups } from '../../packages/core/src/domain/feed/wakeups.ts';
import type { QueuedJob } from '../jobs/define.ts';
import { packJobs } from '../jobs/outbox-jobs.ts';
import { coalesceSends } from '../shared/coalesce.ts';
import type { Bus } from '../platform/bus/bus.ts';
import type { Logger } from '../platform/observability/logger.ts';
import type { JobQueues } from '../platform/queues/job-queues.ts';
import type { CommitResult, OutboxJob } from './change-set.ts';
import type { EventRelay } from './event-relay.ts';

export interface Publisher {
  /** Calls the listeners of this process, publishes on the bus and enqueues the jobs. Returns at once and never throws. */
  publish(result: CommitResult): void;
  /** Adds a listener. It must not throw. */
  onCommit(listener: (result: CommitResult) => void): void;
  /** Resolves when everything published so far is sent or has failed. */
  drain(): Promise<void>;
}

/**
 * Milliseconds that jobs wait before a batch and after it. Streams get their events first, because they need the processor now. Larger
 * batches cost the queue, the worker and the database less per job.
 */
const jobBatchDelayMs = { before: 20, after: 80 };

/**
 * Publishes commits to the bus and the queues, in batches: under load, a hundred commits cost as many messages as one. Losses are
 * repaired elsewhere: readers poll their feeds, and the sweep enqueues what remains in the outbox.
 */
export function createPublisher({
  bus,
  relay,
  queues,
  logger,
}: {
  bus: Bus;
  relay: Pick<EventRelay, 'pack'>;
  queues: JobQueues;
  logger: Logger;
}): Publisher {
  const notify = coalesceSends<CommitResult>(async (results) => {
    const positions = results.flatMap((result) => result.positions);
    const latest = new Map(positions.map((position) => [position.agent_id, position]));
    // Events come before their wake-ups: a reader that is woken first queries the database.
    await bus.publish([...relay.pack(results), ...packWakeups([...latest.values()])]);
  });
  const enqueue = coalesceSends<OutboxJob>(async (jobs) => {
    await pause(jobBatchDelayMs.before);
    await queues.enqueue(toQueuedJobs(jobs));
    await pause(jobBatchDelayMs.after);
  });
  /** After the answers and the first streams of this process: the call to the bus would delay them by 5 to 7 %. */
  async function notifyOtherProcesses(result: CommitResult): Promise<void> {
    await nextTurn();
    await notify([result]);
  }
  const pending = new Set<Promise<void>>();
  const listeners: ((result: CommitResult) => void)[] = [];

  function track(sending: Promise<void>, description: string): void {
    const handled = sending.catch((error: unknown) =>
      logger.debug({ err: error }, `${description} not sent`),
    );
    const tracked = handled.finally(() => pending.delete(tracked));
    pending.add(tracked);
  }

  return {
    publish(result) {
      const { positions, jobs, messages } = result;
      for (const listener of listeners) listener(result);
      if (positions.length > 0) track(notifyOtherProcesses(result), 'wake-ups');
      if (messages.length > 0) track(bus.publish(messages), 'messages');
      if (jobs.length > 0) track(enqueue(jobs), 'jobs');
    },
    onCommit: (listener) => void listeners.push(listener),
    async drain() {
      await Promise.all(pending);
    },
  };
}

/** Packs the jobs of each trace separately, so that a queue entry belongs to one trace. */
function toQueuedJobs(jobs: readonly OutboxJob[]): QueuedJob[] {
  const traces = new Set(jobs.map(({ trace }) => trace));
  return [...traces].flatMap((trace) => {
    const queued = packJobs(jobs.filter((job) => job.trace === trace));
    return trace === undefined ? queued : queued.map((job) => ({ ...job, trace }));
  });
}
