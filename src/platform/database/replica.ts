import { type Database, openDatabase } from './database.ts';
import { type ErrorLog, describeError } from '../../shared/error-log.ts';
import {
  getLagMs,
  readReplicaPosition,
  type PrimaryPosition,
  type ReplicaPosition,
} from './replica-position.ts';

/** What is read on a replica. */
export type ReadOnlyDatabase = Pick<Database, 'query'>;

export interface ReplicaStatus {
  /** Host and port. */
  name: string;
  /** What keeps it from being read; null when it is well. */
  problem: string | null;
  /** Milliseconds; null when that is not known. */
  lagMs: number | null;
  connections: ReturnType<Database['usage']>;
}

export interface Replica {
  read<T>(run: (db: ReadOnlyDatabase) => Promise<T>): Promise<T>;
  /** Asks it where it is. Never rejects. */
  refresh(): Promise<void>;
  /** Decides by its last answer whether it may be read. */
  evaluate(places: readonly PrimaryPosition[], most_behind_ms: number): void;
  status(): ReplicaStatus;
  close(): Promise<void>;
}

/** Milliseconds: what a replica does not answer within, the primary is asked. */
const readTimeouts = { connectionMs: 1_000, lockMs: 1_000, statementMs: 5_000 };
/** The same for the look itself. */
const probeTimeouts = { connectionMs: 1_000, lockMs: 1_000, statementMs: 1_000 };

const notProbedYet = 'it was not looked at yet';

/** One standby, and whether it is well. */
export function openReplica({
  url,
  poolSize,
  hasPooler,
  log,
}: {
  url: string;
  poolSize: number;
  hasPooler: boolean;
  log: ErrorLog;
}): Replica {
  const name = new URL(url).host;
  const onError = (error: Error) => log(`a connection to the replica ${name} was lost`, error);
  const readers = openDatabase({
    url,
    poolSize,
    hasPooler,
    timeouts: readTimeouts,
    isReadOnly: true,
    onError,
  });
  const looks = openDatabase({ url, poolSize: 1, hasPooler, timeouts: probeTimeouts, onError });
  const underWay = new Set<(error: Error) => void>();
  let place: ReplicaPosition | undefined;
  let problem: string | null = notProbedYet;
  let lagMs: number | null = null;
  let closed = false;

  /** From now on it is left alone, and whoever waits for it waits no longer. */
  function setAside(reason: string): void {
    if (!closed && (problem === null || problem === notProbedYet))
      log(`the replica ${name} is left alone: ${reason}`, undefined);
    problem = reason;
    for (const giveUp of underWay) giveUp(new Error(`the replica ${name} was given up: ${reason}`));
    underWay.clear();
  }

  /** Whatever fails by the server's own account leaves it well; whatever else goes wrong, the next look has to clear up. */
  function blame(error: unknown): never {
    if (isConnectionError(error)) setAside(describeError(error));
    throw error;
  }

  async function inSnapshot<T>(run: (db: ReadOnlyDatabase) => Promise<T>): Promise<T> {
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
    async refresh() {
      try {
        place = await readReplicaPosition(looks);
      } catch (error) {
        place = undefined;
        setAside(describeError(error));
      }
    },
    evaluate(places, most_behind_ms) {
      lagMs = place ? getLagMs(places, place.position, Date.now()) : null;
      const reason = place && findProblem(place, lagMs, places.at(-1), most_behind_ms);
      if (reason === null) {
        if (problem !== null && problem !== notProbedYet) log(`the replica ${name} is well again`, undefined);
        problem = null;
      } else if (reason !== undefined) setAside(reason);
    },
    status: () => ({ name, problem, lagMs, connections: readers.usage() }),
    async close() {
      closed = true;
      await Promise.all([readers.close(), looks.close()]);
    },
  };
}

function findProblem(
  { origin }: ReplicaPosition,
  behind_ms: number | null,
  newest: PrimaryPosition | undefined,
  most_behind_ms: number,
): string | null {
  if (!newest) return 'the database does not tell where it should be';
  if (origin !== '' && newest.origin !== '' && origin !== newest.origin) {
    return 'it follows another database, or has not come past the last failover';
  }
  return behind_ms === null || behind_ms > most_behind_ms ? 'it is too far behind' : null;
}

/** SQLSTATE classes: 08 connection, 53 resources, 57P operator intervention. Without a state it was no answer of the server's. */
function isConnectionError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return !/^(?=.*\d)[0-9A-Z]{5}$/.test(code) || /^(?:08|53|57P)/.test(code);
}
