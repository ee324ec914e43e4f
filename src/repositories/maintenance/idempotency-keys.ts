import { requireTrue } from '../queryable.ts';
import { repository, sql } from '../sql.ts';

export interface IdempotencyRow {
  request_hash: Buffer;
  /** The body of the first response, as it was sent. */
  answer: string;
}

export const idempotencyKeysRepository = repository({
  find: sql.row<[keyHash: Buffer], IdempotencyRow>(
    'idempotency_keys.find',
    'select request_hash, answer from idempotency_keys where key_hash = :key_hash',
  ),
  /** The rows of those of these keys that have an answer, in any order. */
  list: sql.rows<[keyHashes: readonly Buffer[]], IdempotencyRow & { key_hash: Buffer }>(
    'idempotency_keys.list',
    'select key_hash, request_hash, answer from idempotency_keys where key_hash = any(:key_hashes::bytea[])',
  ),
  /** Those of these keys that have an answer. */
  listAnswered: sql.values<[keyHashes: readonly Buffer[]], Buffer>(
    'idempotency_keys.list_answered',
    'select key_hash from idempotency_keys where key_hash = any(:key_hashes::bytea[])',
  ),
  /** Fails the transaction with ConcurrentChange if one of these keys has an answer. */
  requireUnused: sql.run<[keyHashes: readonly Buffer[]]>(
    'idempotency_keys.require_unused',
    `select ${requireTrue('count(*) = 0')} as are_unused from idempotency_keys where key_hash = any(:key_hashes::bytea[])`,
  ),
  /** Stores an answer of a call that ran in the transaction of another one. Another call under this key keeps its answer: then it returns false. */
  insertUnlessTaken: sql.hasRow<[key: IdempotencyRow & { key_hash: Buffer; created_at: number }]>(
    'idempotency_keys.insert_unless_taken',
    'insert into idempotency_keys (key_hash, request_hash, answer, created_at) values (:key_hash, :request_hash, :answer, :created_at) on conflict (key_hash) do nothing returning 1',
  ),
  /** Removes up to `limit` keys created before `time` (ms); returns how many. */
  removeBefore: sql.rowCount<[time: number, limit: number]>(
    'idempotency_keys.remove_before(time, limit)',
    `delete from idempotency_keys where key_hash in (select key_hash from idempotency_keys where created_at < :time limit :limit)
     returning 1`,
  ),
});
