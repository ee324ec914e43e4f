import type { Core } from '../compose.ts';
import { coveredUntil } from '../domain/partitions.ts';
import { type ErrorLog, createLimitedLog } from '../shared/error-log.ts';
import { withTimeout } from '../shared/timeout.ts';
import { healthChecks } from './health-checks.ts';

/** Longest that a scrape waits for parts that do not answer, in milliseconds. */
const timeoutMs = 1_500;
/** How long what was asked for is told again, in milliseconds: several who look at once cost what one does. */
const cacheMs = 3_000;

interface Probe {
  /** What it looks at, for the log. */
  part: string;
  run(): Promise<void>;
}

/**
 * The text of the metrics of a process. What must be asked for is asked for together, and told within a bound: of a part that hangs
 * it says that the part is not up, and nothing else; and it is not asked again before it has answered. The log says, twice a minute at
 * most, what could not be looked at. Never rejects.
 */
export function createScrape(core: Core): () => Promise<string> {
  const { metrics, database, logger } = core;
  const log = createLimitedLog((message, error) => logger.warn({ err: error }, message));
  const looks = createProbes(core).map((probe) => limitProbe(probe, log));
  let asked: { at: number; answered: Promise<unknown> } | undefined;

  function ask(): Promise<unknown> {
    metrics.queueJobs.reset();
    metrics.queueAge.reset();
    metrics.outboxJobs.remove();
    metrics.outboxAge.remove();
    metrics.partitionsAhead.reset();
    return Promise.all(looks.map((look) => look()));
  }

  return async function scrape() {
    if (!asked || Date.now() - asked.at > cacheMs) asked = { at: Date.now(), answered: ask() };
    await asked.answered;
    const { total, idle, waiting } = database.usage();
    metrics.databaseConnections.set({ state: 'used' }, total - idle);
    metrics.databaseConnections.set({ state: 'idle' }, idle);
    metrics.databaseWaiting.set(waiting);
    recordReplicas(core);
    return metrics.registry.metrics();
  };
}

/** What the process knows of them already: nothing is asked for. */
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
  const { metrics, queues, repositories } = core;
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
        const { rows, oldest } = await repositories.outbox.readAge();
        metrics.outboxJobs.set(rows);
        metrics.outboxAge.set(secondsSince(oldest));
      },
    },
    {
      part: 'the partitions',
      async run() {
        for (const [table, until] of coveredUntil(await repositories.partitions.list())) {
          metrics.partitionsAhead.set({ table }, (until - Date.now()) / 1_000);
        }
      },
    },
  ];
}

/** Nothing is as young as nothing. */
function secondsSince(time: number | null): number {
  return time === null ? 0 : Math.max(0, Date.now() - time) / 1_000;
}

/**
 * A look that is waited for no longer than anybody has patience, and not begun again while it lasts. It never rejects: what failed, or is
 * late, tells so by what is missing, and in the log.
 */
function limitProbe({ part, run }: Probe, log: ErrorLog): () => Promise<void> {
  const missed = (error: unknown) => log(`a scrape could not look at ${part}`, error);
  let underWay: Promise<void> | undefined;
  return async () => {
    underWay ??= run()
      .catch(missed)
      .finally(() => {
        underWay = undefined;
      });
    await withTimeout(timeoutMs, underWay, () => missed(new Error(`no answer within ${timeoutMs} ms`)));
  };
}
