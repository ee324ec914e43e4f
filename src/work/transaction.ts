import type { NewEvent } from '../../packages/core/src/events/feed-event.ts';
import { databaseError } from '../repositories/errors.ts';
import { createRepositories, type Repositories } from '../repositories/index.ts';
import type { Queryable } from '../repositories/queryable.ts';
import {
  type ChangeSet,
  type CommitResult,
  type OutboxJob,
  toCommitRecord,
  toCommitResult,
} from './change-set.ts';
import { type CommitAnswer, type CommitRecord, commitStatement } from './commit.ts';

interface Transaction extends Queryable {
  commit<Row extends object>(last?: ReturnType<typeof commitStatement>): Promise<Row[]>;
  /** Never rejects. */
  rollback(): Promise<void>;
}

export interface TransactionParts {
  /** The time of the database, in milliseconds. */
  now(): number;
  database: Queryable & { begin(): Promise<Transaction> };
  /** The job that an event causes. */
  jobOf(event: NewEvent & { id: string }): OutboxJob;
  /** Called after each rollback with its cause, before the caller gets that. */
  onRollback(error: unknown): Promise<void>;
  /** Called after each commit with something to publish. Must not throw: the outbox and the feeds already hold everything. */
  publish(result: CommitResult): void;
}

interface TransactionOptions<T> {
  changeSets: readonly ChangeSet[];
  /** Agents that act without a new entry in their own feed: a replica sees by the row version whether it has replayed their write. */
  touched?: readonly string[];
  run(db: Repositories, now: number): Promise<T>;
  /** Idempotency keys to store with the commit. */
  keysOf?(result: T): CommitRecord['keys'];
}

/** Runs `run` and translates the errors of the database to domain errors. */
export async function withDomainErrors<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw databaseError(error);
  }
}

/**
 * The only way to open a transaction. It commits the rows of `run` together with the change sets and publishes the result once, after the
 * commit. If anything fails, everything is rolled back.
 */
export function createTransact({ database, now: readClock, jobOf, publish, onRollback }: TransactionParts) {
  return async function transact<T>(options: TransactionOptions<T>): Promise<T> {
    const { changeSets, touched = [], run, keysOf = () => [] } = options;
    try {
      const transaction = await database.begin();
      let result: T;
      try {
        const now = readClock();
        const raised: string[] = [];
        const db = createRepositories(transaction, (agentId) => raised.push(agentId));
        result = await run(db, now);
        await insertAuditEntries(transaction, changeSets, now);
        const keys = [...keysOf(result), ...changeSets.flatMap((changes) => changes.keys)];
        const record = toCommitRecord(changeSets, { now, touched, raised, keys, jobOf });
        const positions = await commit(transaction, record, changeSets);
        const published = toCommitResult(changeSets, record, positions);
        if (published) publish(published);
      } catch (error) {
        await transaction.rollback();
        await onRollback(error);
        throw error;
      }
      for (const { committedCallbacks } of changeSets) for (const callback of committedCallbacks) callback();
      return result;
    } catch (error) {
      throw databaseError(error);
    }
  };
}

async function insertAuditEntries(
  transaction: Transaction,
  changeSets: readonly ChangeSet[],
  now: number,
): Promise<void> {
  for (const { auditEntries, author } of changeSets) {
    if (auditEntries.length > 0)
      await createRepositories(transaction).auditLog.insert(auditEntries, author, now);
  }
}

/** Sends the last statement together with COMMIT, and awaits the deferred statements. Returns the new feed positions. */
async function commit(
  transaction: Transaction,
  record: CommitRecord,
  changeSets: readonly ChangeSet[],
): Promise<CommitResult['positions']> {
  const { events, jobs, keys, touched, raised } = record;
  const isEmpty = [events, jobs, keys, touched, raised].every(({ length }) => length === 0);
  const last = isEmpty ? undefined : commitStatement(record);
  const [committed, ...deferred] = await Promise.allSettled([
    transaction.commit<CommitAnswer>(last),
    ...changeSets.flatMap((changes) => changes.pendingStatements),
  ]);
  // A deferred statement that failed is the cause; the failed commit only follows from it.
  for (const outcome of deferred) if (outcome.status === 'rejected') throw outcome.reason;
  if (committed.status === 'rejected') throw committed.reason;
  const [answer] = committed.value;
  return last?.readCounters(answer) ?? [];
}
