import { type Database, openDatabase } from './database.ts';
import { type ErrorLog, reasonOf } from './error-log.ts';
import { behind, placeOfReplica, type PrimaryPlace, type ReplicaPlace } from './replica-place.ts';

/** What is read on a replica. */
export type ReadOnly = Pick<Database, 'query'>;

export interface ReplicaStanding {
  /** Host and port. */
  name: string;
  /** What keeps it from being read; null when it is well. */
  ill: string | null;
  /** Milliseconds; null when that is not known. */
  behind_ms: number | null;
  connections: ReturnType<Database['usage']>;
}

export interface Replica {
  read<T>(run: (db: ReadOnly) => Promise<T>): Promise<T>;
  /** Asks it where it is. Never rejects. */
  ask(): Promise<void>;
  /** Decides by its last answer whether it may be read. */
  judge(places: readonly PrimaryPlace[], most_behind_ms: number): void;
  standing(): ReplicaStanding;
  close(): Promise<void>;
}

/** Milliseconds: what a replica does not answer within, the primary is asked. */
const patience = { connection: 1_000, lock: 1_000, statement: 5_000 };
/** The same for the look itself. */
const lookPatience = { connection: 1_000, lock: 1_000, statement: 1_000 };

const notLookedAt = 'it was not looked at yet';

/** One standby, and whether it is well. */
export function openReplica({
  url,
  pool_size,
  pooled,
  log,
}: {
  url: string;
  pool_size: number;
  pooled: boolean;
  log: ErrorLog;
}): Replica {
  const name = new URL(url).host;
  const on_error = (error: Error) => log(`a connection to the replica ${name} was lost`, error);
  const readers = openDatabase({ url, pool_size, pooled, patience, read_only: true, on_error });
  const looks = openDatabase({ url, pool_size: 1, pooled, patience: lookPatience, on_error });
  const underWay = new Set<(error: Error) => void>();
  let place: ReplicaPlace | undefined;
  let ill: string | null = notLookedAt;
  let behind_ms: number | null = null;
  let closed = false;

  /** From now on it is left alone, and whoever waits for it waits no longer. */
  function setAside(reason: string): void {
    if (!closed && (ill === null || ill === notLookedAt))
      log(`the replica ${name} is left alone: ${reason}`, undefined);
    ill = reason;
    for (const giveUp of underWay) giveUp(new Error(`the replica ${name} was given up: ${reason}`));
    underWay.clear();
  }

  /** Whatever fails by the server's own account leaves it well; whatever else goes wrong, the next look has to clear up. */
  function blame(error: unknown): never {
    if (isOfConnection(error)) setAside(reasonOf(error));
    throw error;
  }

  async function inSnapshot<T>(run: (db: ReadOnly) => Promise<T>): Promise<T> {
    const transaction = await readers.begin().catch(blame);
    try {
      return await run({
        query: (statement, values) => transaction.query<never>(statement, values).catch(blame),
      });
    } finally {
      // Nothing was changed: whether this arrives matters to the connection alone.
      void transaction.rollback();
    }
  }

  return {
    read(run) {
      return new Promise((resolve, reject) => {
        underWay.add(reject);
        const done = inSnapshot(run).finally(() => underWay.delete(reject));
        done.then(resolve, reject);
      });
    },
    async ask() {
      try {
        place = await placeOfReplica(looks);
      } catch (error) {
        place = undefined;
        setAside(reasonOf(error));
      }
    },
    judge(places, most_behind_ms) {
      behind_ms = place ? behind(places, place.position, Date.now()) : null;
      const reason = place && reasonAgainst(place, behind_ms, places.at(-1), most_behind_ms);
      if (reason === null) {
        if (ill !== null && ill !== notLookedAt) log(`the replica ${name} is well again`, undefined);
        ill = null;
      } else if (reason !== undefined) setAside(reason);
    },
    standing: () => ({ name, ill, behind_ms, connections: readers.usage() }),
    async close() {
      closed = true;
      await Promise.all([readers.close(), looks.close()]);
    },
  };
}

function reasonAgainst(
  { origin }: ReplicaPlace,
  behind_ms: number | null,
  newest: PrimaryPlace | undefined,
  most_behind_ms: number,
): string | null {
  if (!newest) return 'the database does not tell where it should be';
  if (origin !== '' && newest.origin !== '' && origin !== newest.origin) {
    return 'it follows another database, or has not come past the last failover';
  }
  return behind_ms === null || behind_ms > most_behind_ms ? 'it is too far behind' : null;
}

/** SQLSTATE classes: 08 connection, 53 resources, 57P operator intervention. Without a state it was no answer of the server's. */
function isOfConnection(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return !/^(?=.*\d)[0-9A-Z]{5}$/.test(code) || /^(?:08|53|57P)/.test(code);
}
