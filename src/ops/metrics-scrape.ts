import { withTimeout } from '../shared/timeout.ts';
import type { Core } from '../compose.ts';
import { timeOfId } from '../../packages/core/src/domain/ids.ts';
import { coveredUntil } from '../../packages/core/src/domain/partitions.ts';
import { type ErrorLog, createLimitedLog } from '../shared/error-log.ts';
import { healthChecks } from './health-checks.ts';
import { steadyNow } from '../shared/clock.ts';

/** Milliseconds that a scrape waits for parts that do not respond. */
const timeoutMs = 1_500;
/** Threads with agents of other systems of which a scrape reads the first waiting message. */
const maxRemoteThreads = 1_000;
/** Milliseconds for which a scrape reuses the last result, so that several scrapers cost as much as one. */
const cacheMs = 3_000;

interface Probe {
  part: string;
  run(): Promise<void>;
}

/**
 * Returns the metrics of a process as text. The parts are probed in parallel, within a timeout: a part that does not respond is reported as
 * down and not probed again until it has responded. Failed probes are logged at most twice a minute. Never rejects.
 */
export function createScrape(core: Core): () => Promise<string> {
  const { metrics, database, logger } = core;
  const log = createLimitedLog((message, error) => logger.warn({ err: error }, message));
  const probes = createProbes(core).map((probe) => limitProbe(probe, log));
  let last: { at: number; done: Promise<unknown> } | undefined;

  function probeAll(): Promise<unknown> {
    metrics.queueJobs.reset();
    metrics.queueAge.reset();
    metrics.outboxJobs.remove();
    metrics.outboxAge.remove();
    for (const gauge of inboxGauges(metrics)) gauge.remove();
    metrics.remoteOldestAge.remove();
    metrics.partitionsAhead.reset();
    return Promise.all(probes.map((probe) => probe()));
  }

  return async function scrape() {
    if (!last || steadyNow() - last.at > cacheMs) last = { at: steadyNow(), done: probeAll() };
    await last.done;
    const { total, idle, waiting } = database.usage();
    metrics.databaseConnections.set({ state: 'used' }, total - idle);
    metrics.databaseConnections.set({ state: 'idle' }, idle);
    metrics.databaseWaiting.set(waiting);
    recordReplicas(core);
    return metrics.registry.metrics();
  };
}

/** From the statuses that the process already has; sends no query. */
function recordReplicas({ metrics, replicas }: Core): void {
  if (!replicas.isWatching()) return;
  metrics.replicaLag.reset();
  for (const { name: replica, problem, lagMs, connections } of replicas.statuses()) {
    metrics.replicaUp.set({ replica }, problem === null ? 1 : 0);
    if (lagMs !== null) metrics.replicaLag.set({ replica }, lagMs / 1_000);
    const { total, idle } = connections;
    metrics.replicaConnections.set({ replica, state: 'used' }, total - idle);
    metrics.replicaConnections.set({ replica, state: 'idle' }, idle);
  }
}

function createProbes(core: Core): Probe[] {
  const { metrics, queues, db } = core;
  const parts = healthChecks(core).map(({ part, check }): Probe => ({
    part,
    async run() {
      metrics.parts.set({ part }, 0);
      await check();
      metrics.parts.set({ part }, 1);
    },
  }));
  return [
    ...parts,
    {
      part: 'the depth of the queues',
      async run() {
        for (const { queue, oldest, ...states } of await queues.depths()) {
          for (const [state, jobs] of Object.entries(states)) metrics.queueJobs.set({ queue, state }, jobs);
          metrics.queueAge.set({ queue }, secondsSince(oldest));
        }
      },
    },
    {
      part: 'the outbox',
      async run() {
        const { rows, oldest } = await db.outbox.readAge();
        metrics.outboxJobs.set(rows);
        metrics.outboxAge.set(secondsSince(oldest));
      },
    },
    {
      part: 'the inboxes',
      async run() {
        const { ready, leased, dead, oldest_event_id: oldest } = await db.inboxRetention.readStats();
        metrics.inboxReady.set(ready);
        metrics.inboxLeased.set(leased);
        metrics.inboxDead.set(dead);
        metrics.inboxOldestAge.set(secondsSince(oldest === null ? null : timeOfId(oldest)));
      },
    },
    {
      part: 'the agents of other systems',
      async run() {
        const oldest = await db.remoteThreads.findOldestWaiting(maxRemoteThreads);
        metrics.remoteOldestAge.set(secondsSince(oldest ?? null));
      },
    },
    {
      part: 'the partitions',
      async run() {
        for (const [table, until] of coveredUntil(await db.partitions.list())) {
          metrics.partitionsAhead.set({ table }, (until - Date.now()) / 1_000);
        }
      },
    },
  ];
}

function inboxGauges({ inboxReady, inboxLeased, inboxDead, inboxOldestAge }: Core['metrics']) {
  return [inboxReady, inboxLeased, inboxDead, inboxOldestAge];
}

/** 0 if there is no time. */
function secondsSince(time: number | null): number {
  return time === null ? 0 : Math.max(0, Date.now() - time) / 1_000;
}

/** Runs a probe with a timeout, and not again while it still runs. Never rejects: failures and timeouts are logged. */
function limitProbe({ part, run }: Probe, log: ErrorLog): () => Promise<void> {
  const onFailure = (error: unknown) => log(`a scrape could not look at ${part}`, error);
  let running: Promise<void> | undefined;
  return async () => {
    running ??= run()
      .catch(onFailure)
      .finally(() => {
        running = undefined;
      });
    await withTimeout(timeoutMs, running, () => onFailure(new Error(`no answer within ${timeoutMs} ms`)));
  };
}
