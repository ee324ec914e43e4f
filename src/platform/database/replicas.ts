import type { Database } from './database.ts';
import { type ErrorLog, createLimitedLog } from '../../shared/error-log.ts';
import { openReplica, type ReadOnlyDatabase, type Replica, type ReplicaStatus } from './replica.ts';
import { readPrimaryPosition, type PrimaryPosition, rememberPosition } from './replica-position.ts';

export interface ReplicasOptions {
  primary: Pick<Database, 'query'>;
  urls: readonly string[];
  poolSize: number;
  hasPooler: boolean;
  /** Milliseconds that a replica may be behind before it is left alone. */
  maxLagMs: number;
  log: ErrorLog;
}

export interface Replicas {
  /**
   * Runs in one read-only snapshot of a replica that is well, of several in turn; answers null, without running, when none is.
   * Rejects as soon as the replica is found to be ill, whatever is still under way there.
   */
  read<T>(run: (db: ReadOnlyDatabase) => Promise<T>): Promise<T | null>;
  /** Begins to look after them; before that none is taken for well. */
  watch(): void;
  /** Whether there are any and they are looked after. */
  isWatching(): boolean;
  /** Looks at all of them once. */
  refresh(): Promise<void>;
  statuses(): ReplicaStatus[];
  close(): Promise<void>;
}

/** Milliseconds between two looks. */
const intervalMs = 1_000;

/**
 * Standbys of the database. Each is looked at every second over a connection of its own; one that does not answer, follows another
 * database, or is too far behind is left alone until it is well again.
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
    const at = Date.now();
    try {
      rememberPosition(places, { ...(await readPrimaryPosition(primary)), at }, maxLagMs);
    } catch (error) {
      log('the database does not tell replicas from where they should be', error);
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
