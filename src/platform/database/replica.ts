import { type Database, openDatabase } from './database.ts';
import { steadyNow } from '../../shared/clock.ts';
import { type ErrorLog, describeError } from '../../shared/error-log.ts';
import { getErrorCode } from '../../shared/narrow.ts';
import {
  getLagMs,
  readReplicaPosition,
  type PrimaryPosition,
  type ReplicaPosition,
} from './replica-position.ts';

/** A database for reads only. */
export type ReadOnlyDatabase = Pick<Database, 'query'>;

export interface ReplicaStatus {
  /** Host and port. */
  name: string;
  /** Why it is not read; null when it is. */
  problem: string | null;
  /** Null when it is unknown. */
  lagMs: number | null;
  connections: ReturnType<Database['usage']>;
}

export interface Replica {
  read<T>(run: (db: ReadOnlyDatabase) => Promise<T>): Promise<T>;
  /** Reads its position. Never rejects. */
  refresh(): Promise<void>;
  /** Decides by the last position whether it can be read. */
  evaluate(primaryPositions: readonly PrimaryPosition[], maxLagMs: number): void;
  status(): ReplicaStatus;
  close(): Promise<void>;
}

/** The caller reads from the primary when a replica takes longer. */
const readTimeouts = { connectionMs: 1_000, lockMs: 1_000, statementMs: 5_000 };
const probeTimeouts = { connectionMs: 1_000, lockMs: 1_000, statementMs: 1_000 };

export interface ReplicaOptions {
  url: string;
  poolSize: number;
  hasPooler: boolean;
  log: ErrorLog;
}

/** Opens one standby server and its health. */
export function openReplica({ url, poolSize, hasPooler, log }: ReplicaOptions): Replica {
  const name = new URL(url).host;
  const onError = (error: Error) => log(`a connection to the replica ${name} was lost`, error);
  const shared = { url, hasPooler, onError };
  const readers = openDatabase({ ...shared, poolSize, timeouts: readTimeouts, isReadOnly: true });
  const probe = openDatabase({ ...shared, poolSize: 1, timeouts: probeTimeouts });
  const health = createHealth(name, log);
  let replicaPosition: ReplicaPosition | undefined;
  let lagMs: number | null = null;

  /** A connection error takes the replica out of use; an error of the statement does not. */
  function rethrow(error: unknown): never {
    if (isConnectionError(error)) health.fail(describeError(error));
    throw error;
  }

  async function readInSnapshot<T>(run: (db: ReadOnlyDatabase) => Promise<T>): Promise<T> {
    const transaction = await readers.begin().catch(rethrow);
    try {
      return await run({
        query: (statement, values) => transaction.query<never>(statement, values).catch(rethrow),
      });
    } finally {
      // Not awaited: nothing was changed, so the result concerns the connection only.
      void transaction.rollback();
    }
  }

  return {
    read: (run) => health.rejectOnFailure(readInSnapshot(run)),
    async refresh() {
      try {
        replicaPosition = await readReplicaPosition(probe);
      } catch (error) {
        replicaPosition = undefined;
        health.fail(describeError(error));
      }
    },
    evaluate(primaryPositions, maxLagMs) {
      lagMs = replicaPosition ? getLagMs(primaryPositions, replicaPosition.position, steadyNow()) : null;
      if (!replicaPosition) return;
      const problem = findProblem(replicaPosition, lagMs, primaryPositions.at(-1), maxLagMs);
      if (problem === null) health.recover();
      else health.fail(problem);
    },
    status: () => ({ name, problem: health.problem(), lagMs, connections: readers.usage() }),
    async close() {
      health.close();
      await Promise.all([readers.close(), probe.close()]);
    },
  };
}

const notProbedYet = 'it was not probed yet';

/** Whether a replica is in use. A failure rejects the reads in progress, so that callers do not wait for a server that is down. */
function createHealth(name: string, log: ErrorLog) {
  const rejectReads = new Set<(error: Error) => void>();
  let problem: string | null = notProbedYet;
  let isClosed = false;

  return {
    problem: () => problem,
    fail(reason: string): void {
      if (!isClosed && (problem === null || problem === notProbedYet))
        log(`the replica ${name} is not used: ${reason}`, undefined);
      problem = reason;
      for (const reject of rejectReads)
        reject(new Error(`the replica ${name} is not used any more: ${reason}`));
      rejectReads.clear();
    },
    recover(): void {
      if (problem !== null && problem !== notProbedYet) log(`the replica ${name} is used again`, undefined);
      problem = null;
    },
    rejectOnFailure<T>(read: Promise<T>): Promise<T> {
      return new Promise((resolve, reject) => {
        rejectReads.add(reject);
        read.finally(() => rejectReads.delete(reject)).then(resolve, reject);
      });
    },
    close(): void {
      isClosed = true;
    },
  };
}

function findProblem(
  { origin }: ReplicaPosition,
  lagMs: number | null,
  newest: PrimaryPosition | undefined,
  maxLagMs: number,
): string | null {
  if (!newest) return 'the position of the primary is unknown';
  if (origin !== '' && newest.origin !== '' && origin !== newest.origin) {
    return 'it follows another database, or has not replayed the last failover';
  }
  return lagMs === null || lagMs > maxLagMs ? 'it lags too far behind the primary' : null;
}

/** SQLSTATE classes 08 (connection), 53 (resources) and 57P (operator intervention), or no SQLSTATE: the server did not respond. */
function isConnectionError(error: unknown): boolean {
  const code = getErrorCode(error) ?? '';
  return !/^(?=.*\d)[0-9A-Z]{5}$/.test(code) || /^(?:08|53|57P)/.test(code);
}
