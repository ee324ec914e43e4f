import { setTimeout as pause } from 'node:timers/promises';
import { packWakeups } from '../domain/feed/wakeups.ts';
import type { QueuedJob } from '../jobs/define.ts';
import { packJobs } from '../jobs/outbox-jobs.ts';
import { coalesceSends } from '../shared/coalesce.ts';
import type { Bus } from '../platform/bus/bus.ts';
import type { Logger } from '../platform/observability/logger.ts';
import type { JobQueues } from '../platform/queues/job-queues.ts';
import type { CommitResult, OutboxJob } from './change-set.ts';

export interface Publisher {
  /** Rings for whoever listens and enqueues the jobs that are owed. Never throws and is never waited for. */
  publish(news: CommitResult): void;
  /** Has somebody in this process told of the same at once. It must not throw. */
  onCommit(listener: (news: CommitResult) => void): void;
  /** Resolves when everything announced so far has been sent, or given up. */
  drain(): Promise<void>;
}

/**
 * Milliseconds that jobs wait before and behind their departure. Who listens is rung at once, so a job may wait a moment: first for the
 * frames of its event, which need the processor now; and the more subjects share an entry of the queue, the less each of them costs the
 * queue, the worker and the database.
 */
const jobBatchDelayMs = { before: 20, after: 80 };

/**
 * Carries the news of commits to the bus and the queues. What comes together travels together: at rest a commit costs one
 * ring and one job entry of each kind, under load a hundred commits do. A loss here is made good elsewhere: readers poll, and
 * the sweep enqueues what still stands in the outbox.
 */
export function createPublisher({
  bus,
  queues,
  logger,
}: {
  bus: Bus;
  queues: JobQueues;
  logger: Logger;
}): Publisher {
  const ring = coalesceSends<CommitResult['positions'][number]>(async (heads) => {
    const latest = new Map(heads.map((head) => [head.agent_id, head]));
    await bus.publish(packWakeups([...latest.values()]));
  });
  const enqueue = coalesceSends<OutboxJob>(async (jobs) => {
    await pause(jobBatchDelayMs.before);
    await queues.enqueue(toQueuedJobs(jobs));
    await pause(jobBatchDelayMs.after);
  });
  const underWay = new Set<Promise<void>>();
  const listeners: ((news: CommitResult) => void)[] = [];

  function follow(sending: Promise<void>, what: string): void {
    const done = sending.catch((error: unknown) =>
      logger.debug({ err: error }, `${what} not sent; it will be made good`),
    );
    const watched = done.finally(() => underWay.delete(watched));
    underWay.add(watched);
  }

  return {
    publish(news) {
      const { positions, jobs, messages } = news;
      for (const listener of listeners) listener(news);
      if (positions.length > 0) follow(ring(positions), 'rings');
      if (messages.length > 0) follow(bus.publish(messages), 'messages');
      if (jobs.length > 0) follow(enqueue(jobs), 'jobs');
    },
    onCommit: (listener) => void listeners.push(listener),
    async drain() {
      await Promise.all(underWay);
    },
  };
}

/** What is traced travels apart, so that an entry of the queue belongs to one trace; the rest shares its entries. */
function toQueuedJobs(jobs: readonly OutboxJob[]): QueuedJob[] {
  const traces = new Set(jobs.map(({ trace }) => trace));
  return [...traces].flatMap((trace) => {
    const queued = packJobs(jobs.filter((job) => job.trace === trace));
    return trace === undefined ? queued : queued.map((job) => ({ ...job, trace }));
  });
}
