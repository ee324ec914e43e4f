import { type Queryable, requireTrue, statement } from '../queryable.ts';

export interface IdempotencyRow {
  request_hash: Buffer;
  /** The body of the first response, as it was sent. */
  answer: string;
}

const statements = {
  find: statement(
    'idempotency_keys.find',
    'select request_hash, answer from idempotency_keys where key_hash = $1',
  ),
  list: statement(
    'idempotency_keys.list',
    'select key_hash, request_hash, answer from idempotency_keys where key_hash = any($1)',
  ),
  listAnswered: statement(
    'idempotency_keys.list_answered',
    'select key_hash from idempotency_keys where key_hash = any($1)',
  ),
  requireUnused: statement(
    'idempotency_keys.require_unused',
    `select ${requireTrue('count(*) = 0')} as are_unused from idempotency_keys where key_hash = any($1)`,
  ),
  insertUnlessTaken: statement(
    'idempotency_keys.insert_unless_taken',
    'insert into idempotency_keys (key_hash, request_hash, answer, created_at) values ($1, $2, $3, $4) on conflict (key_hash) do nothing',
  ),
  removeBefore: statement(
    'idempotency_keys.remove_before',
    `delete from idempotency_keys where key_hash in (select key_hash from idempotency_keys where created_at < $1 limit $2)
     returning 1`,
  ),
};

export function idempotencyKeysRepository(db: Queryable) {
  return {
    async find(keyHash: Buffer): Promise<IdempotencyRow | undefined> {
      return (await db.query<IdempotencyRow>(statements.find, [keyHash]))[0];
    },
    /** The rows of those of these keys that have an answer, in any order. */
    list(keyHashes: readonly Buffer[]): Promise<(IdempotencyRow & { key_hash: Buffer })[]> {
      return db.query(statements.list, [keyHashes]);
    },
    /** Those of these keys that have an answer. */
    async listAnswered(keyHashes: readonly Buffer[]): Promise<Buffer[]> {
      const rows = await db.query<{ key_hash: Buffer }>(statements.listAnswered, [keyHashes]);
      return rows.map(({ key_hash }) => key_hash);
    },
    /** Fails the transaction with ConcurrentChange if one of these keys has an answer. */
    async requireUnused(keyHashes: readonly Buffer[]): Promise<void> {
      await db.query(statements.requireUnused, [keyHashes]);
    },
    /** Stores an answer of a call that ran in the transaction of another one. Another call under this key keeps its answer. */
    async insertUnlessTaken(key: IdempotencyRow & { key_hash: Buffer; created_at: number }): Promise<void> {
      const { key_hash, request_hash, answer, created_at } = key;
      await db.query(statements.insertUnlessTaken, [key_hash, request_hash, answer, created_at]);
    },
    /** Removes up to `limit` keys created before `time` (ms); returns how many. */
    async removeBefore(time: number, limit: number): Promise<number> {
      return (await db.query(statements.removeBefore, [time, limit])).length;
    },
  };
}
