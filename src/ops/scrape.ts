import type { Core } from '../compose.ts';
import { coveredUntil } from '../domain/partitions.ts';
import { type ErrorLog, limitedLog } from '../platform/error-log.ts';
import { healthChecks } from './health-checks.ts';

/** Longest that a scrape waits for parts that do not answer, in milliseconds. */
const patience = 1_500;
/** How long what was asked for is told again, in milliseconds: several who look at once cost what one does. */
const freshness = 3_000;

interface Look {
  /** What it looks at, for the log. */
  at: string;
  look(): Promise<void>;
}

/**
 * The text of the metrics of a process. What must be asked for is asked for together, and told within a bound: of a part that hangs
 * it says that the part is not up, and nothing else; and it is not asked again before it has answered. The log says, twice a minute at
 * most, what could not be looked at. Never rejects.
 */
export function createScrape(core: Core): () => Promise<string> {
  const { metrics, database, logger } = core;
  const log = limitedLog((message, error) => logger.warn({ err: error }, message));
  const looks = looksOf(core).map((look) => watched(look, log));
  let asked: { at: number; answered: Promise<unknown> } | undefined;

  function ask(): Promise<unknown> {
    metrics.queueJobs.reset();
    metrics.queueAge.reset();
    metrics.outboxJobs.remove();
    metrics.outboxAge.remove();
    metrics.partitionsReach.reset();
    return Promise.all(looks.map((look) => look()));
  }

  return async function scrape() {
    if (!asked || Date.now() - asked.at > freshness) asked = { at: Date.now(), answered: ask() };
    await asked.answered;
    const { total, idle, waiting } = database.usage();
    metrics.databaseConnections.set({ state: 'used' }, total - idle);
    metrics.databaseConnections.set({ state: 'idle' }, idle);
    metrics.databaseWaiting.set(waiting);
    tellReplicas(core);
    return metrics.registry.metrics();
  };
}

/** What the process knows of them already: nothing is asked for. */
function tellReplicas({ metrics, replicas }: Core): void {
  if (!replicas.watched()) return;
  metrics.replicaLag.reset();
  for (const { name: replica, ill, behind_ms, connections } of replicas.standings()) {
    metrics.replicaUp.set({ replica }, ill === null ? 1 : 0);
    if (behind_ms !== null) metrics.replicaLag.set({ replica }, behind_ms / 1_000);
    const { total, idle } = connections;
    metrics.replicaConnections.set({ replica, state: 'used' }, total - idle);
    metrics.replicaConnections.set({ replica, state: 'idle' }, idle);
  }
}

function looksOf(core: Core): Look[] {
  const { metrics, queues, repositories } = core;
  const parts = healthChecks(core).map(({ part, check }): Look => ({
    at: part,
    async look() {
      metrics.parts.set({ part }, 0);
      await check();
      metrics.parts.set({ part }, 1);
    },
  }));
  return [
    ...parts,
    {
      at: 'the depth of the queues',
      async look() {
        for (const { queue, oldest, ...states } of await queues.depths()) {
          for (const [state, jobs] of Object.entries(states)) metrics.queueJobs.set({ queue, state }, jobs);
          metrics.queueAge.set({ queue }, secondsSince(oldest));
        }
      },
    },
    {
      at: 'the outbox',
      async look() {
        const { rows, oldest } = await repositories.outbox.age();
        metrics.outboxJobs.set(rows);
        metrics.outboxAge.set(secondsSince(oldest));
      },
    },
    {
      at: 'the partitions',
      async look() {
        for (const [table, until] of coveredUntil(await repositories.partitions.list())) {
          metrics.partitionsReach.set({ table }, (until - Date.now()) / 1_000);
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
function watched({ at, look }: Look, log: ErrorLog): () => Promise<void> {
  const missed = (error: unknown) => log(`a scrape could not look at ${at}`, error);
  let underWay: Promise<void> | undefined;
  return async () => {
    underWay ??= look()
      .catch(missed)
      .finally(() => {
        underWay = undefined;
      });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        missed(new Error(`no answer within ${patience} ms`));
        resolve();
      }, patience);
    });
    await Promise.race([underWay, late]);
    clearTimeout(timer);
  };
}
