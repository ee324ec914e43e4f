import { setTimeout as pause } from 'node:timers/promises';
import { packRings } from './domain/rings.ts';
import type { QueuedJob } from './jobs/define.ts';
import { queuedJobs } from './jobs/index.ts';
import { batching } from './platform/batching.ts';
import type { Bus } from './platform/bus.ts';
import type { Logger } from './platform/logger.ts';
import type { JobQueues } from './platform/queues.ts';
import type { CommitNews, OwedJob } from './notebook.ts';

export interface Announcer {
  /** Rings for whoever listens and enqueues the jobs that are owed. Never throws and is never waited for. */
  announce(news: CommitNews): void;
  /** Has somebody in this process told of the same at once. It must not throw. */
  alsoTell(listener: (news: CommitNews) => void): void;
  /** Resolves when everything announced so far has been sent, or given up. */
  settled(): Promise<void>;
}

/**
 * Milliseconds that jobs wait before and behind their departure. Who listens is rung at once, so a job may wait a moment: first for the
 * frames of its event, which need the processor now; and the more subjects share an entry of the queue, the less each of them costs the
 * queue, the worker and the database.
 */
const jobGathering_ms = { before: 20, behind: 80 };

/**
 * Carries the news of commits to the bus and the queues. What comes together travels together: at rest a commit costs one
 * ring and one job entry of each kind, under load a hundred commits do. A loss here is made good elsewhere: readers poll, and
 * the sweep enqueues what still stands in the outbox.
 */
export function createAnnouncer({
  bus,
  queues,
  logger,
}: {
  bus: Bus;
  queues: JobQueues;
  logger: Logger;
}): Announcer {
  const ring = batching<CommitNews['heads'][number]>(async (heads) => {
    const latest = new Map(heads.map((head) => [head.agent_id, head]));
    await bus.publish(packRings([...latest.values()]));
  });
  const enqueue = batching<OwedJob>(async (jobs) => {
    await pause(jobGathering_ms.before);
    await queues.enqueue(packed(jobs));
    await pause(jobGathering_ms.behind);
  });
  const underWay = new Set<Promise<void>>();
  const listeners: ((news: CommitNews) => void)[] = [];

  function follow(sending: Promise<void>, what: string): void {
    const done = sending.catch((error: unknown) =>
      logger.debug({ err: error }, `${what} not sent; it will be made good`),
    );
    const watched = done.finally(() => underWay.delete(watched));
    underWay.add(watched);
  }

  return {
    announce(news) {
      const { heads, jobs, messages } = news;
      for (const listener of listeners) listener(news);
      if (heads.length > 0) follow(ring(heads), 'rings');
      if (messages.length > 0) follow(bus.publish(messages), 'messages');
      if (jobs.length > 0) follow(enqueue(jobs), 'jobs');
    },
    alsoTell: (listener) => void listeners.push(listener),
    async settled() {
      await Promise.all(underWay);
    },
  };
}

/** What is traced travels apart, so that an entry of the queue belongs to one trace; the rest shares its entries. */
function packed(jobs: readonly OwedJob[]): QueuedJob[] {
  const traces = new Set(jobs.map(({ trace }) => trace));
  return [...traces].flatMap((trace) => {
    const queued = queuedJobs(jobs.filter((job) => job.trace === trace));
    return trace === undefined ? queued : queued.map((job) => ({ ...job, trace }));
  });
}
