import type { Database } from './database.ts';
import { type ErrorLog, limitedLog } from './error-log.ts';
import { openReplica, type ReadOnly, type Replica, type ReplicaStanding } from './replica.ts';
import { placeOfPrimary, type PrimaryPlace, remember } from './replica-place.ts';

export interface ReplicasOptions {
  primary: Pick<Database, 'query'>;
  urls: readonly string[];
  pool_size: number;
  pooled: boolean;
  /** Milliseconds that a replica may be behind before it is left alone. */
  most_behind_ms: number;
  log: ErrorLog;
}

export interface Replicas {
  /**
   * Runs in one read-only snapshot of a replica that is well, of several in turn; answers null, without running, when none is.
   * Rejects as soon as the replica is found to be ill, whatever is still under way there.
   */
  read<T>(run: (db: ReadOnly) => Promise<T>): Promise<T | null>;
  /** Begins to look after them; before that none is taken for well. */
  watch(): void;
  /** Whether there are any and they are looked after. */
  watched(): boolean;
  /** Looks at all of them once. */
  look(): Promise<void>;
  standings(): ReplicaStanding[];
  close(): Promise<void>;
}

/** Milliseconds between two looks. */
const interval_ms = 1_000;

/**
 * Standbys of the database. Each is looked at every second over a connection of its own; one that does not answer, follows another
 * database, or is too far behind is left alone until it is well again.
 */
export function openReplicas(options: ReplicasOptions): Replicas {
  const { primary, urls, pool_size, pooled, most_behind_ms } = options;
  const log = limitedLog(options.log);
  const replicas = urls.map((url) => openReplica({ url, pool_size, pooled, log }));
  const places: PrimaryPlace[] = [];
  let timer: NodeJS.Timeout | undefined;
  let watching = false;
  let closed = false;
  let turn = 0;

  async function look(): Promise<void> {
    await Promise.all([notePlace(), ...replicas.map((replica) => replica.ask())]);
    for (const replica of replicas) replica.judge(places, most_behind_ms);
  }

  async function notePlace(): Promise<void> {
    const at = Date.now();
    try {
      remember(places, { ...(await placeOfPrimary(primary)), at }, most_behind_ms);
    } catch (error) {
      log('the database does not tell replicas from where they should be', error);
    }
  }

  async function goOn(): Promise<void> {
    await look();
    if (!closed) timer = setTimeout(() => void goOn(), interval_ms).unref();
  }

  function next(): Replica | undefined {
    const well = replicas.filter((replica) => replica.standing().ill === null);
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
    watched: () => watching,
    look,
    standings: () => replicas.map((replica) => replica.standing()),
    async close() {
      closed = true;
      clearTimeout(timer);
      await Promise.all(replicas.map((replica) => replica.close()));
    },
  };
}
