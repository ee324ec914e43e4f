import type { Database } from './database.ts';
import { steadyNow } from '../../shared/clock.ts';
import { type ErrorLog, createLimitedLog } from '../../shared/error-log.ts';
import { openReplica, type ReadOnlyDatabase, type Replica, type ReplicaStatus } from './replica.ts';
import { readPrimaryPosition, type PrimaryPosition, rememberPosition } from './replica-position.ts';

export interface ReplicasOptions {
  primary: Pick<Database, 'query'>;
  urls: readonly string[];
  poolSize: number;
  hasPooler: boolean;
  /** Maximum lag in milliseconds of a replica that is read. */
  maxLagMs: number;
  log: ErrorLog;
}

export interface Replicas {
  /**
   * Runs in one read-only snapshot of a healthy replica, in rotation.
   * @returns null, without running, when no replica is healthy. Rejects as soon as the replica fails.
   */
  read<T>(run: (db: ReadOnlyDatabase) => Promise<T>): Promise<T | null>;
  /** Starts the health checks; before that no replica counts as healthy. */
  watch(): void;
  /** Whether replicas are configured and checked. */
  isWatching(): boolean;
  /** Checks all replicas once. */
  refresh(): Promise<void>;
  statuses(): ReplicaStatus[];
  close(): Promise<void>;
}

const intervalMs = 1_000;

/**
 * Read replicas. Each one is checked every second over its own connection. One that does not respond, follows another database, or is too
 * far behind is not read until it is healthy again.
 */
export function openReplicas(options: ReplicasOptions): Replicas {
  const { primary, urls, poolSize, hasPooler, maxLagMs } = options;
  const log = createLimitedLog(options.log);
  const replicas = urls.map((url) => openReplica({ url, poolSize, hasPooler, log }));
  const places: PrimaryPosition[] = [];
  let timer: NodeJS.Timeout | undefined;
  let watching = false;
  let closed = false;
  let turn = 0;

  async function refresh(): Promise<void> {
    await Promise.all([notePlace(), ...replicas.map((replica) => replica.refresh())]);
    for (const replica of replicas) replica.evaluate(places, maxLagMs);
  }

  async function notePlace(): Promise<void> {
    const at = steadyNow();
    try {
      rememberPosition(places, { ...(await readPrimaryPosition(primary)), at }, maxLagMs);
    } catch (error) {
      log('cannot read the write position of the primary', error);
    }
  }

  async function goOn(): Promise<void> {
    await refresh();
    if (!closed) timer = setTimeout(() => void goOn(), intervalMs).unref();
  }

  function next(): Replica | undefined {
    const well = replicas.filter((replica) => replica.status().problem === null);
    turn = (turn + 1) % Math.max(1, well.length);
    return well[turn];
  }

  return {
    async read(run) {
      const replica = next();
      return replica ? replica.read(run) : null;
    },
    watch() {
      watching = replicas.length > 0;
      if (watching) void goOn();
    },
    isWatching: () => watching,
    refresh,
    statuses: () => replicas.map((replica) => replica.status()),
    async close() {
      closed = true;
      clearTimeout(timer);
      await Promise.all(replicas.map((replica) => replica.close()));
    },
  };
}
