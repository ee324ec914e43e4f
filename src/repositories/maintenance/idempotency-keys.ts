import { type Queryable, statement } from '../queryable.ts';

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
  listAnswered: statement(
    'idempotency_keys.list_answered',
    'select key_hash from idempotency_keys where key_hash = any($1)',
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
    /** Those of these keys that have an answer. */
    async listAnswered(keyHashes: readonly Buffer[]): Promise<Buffer[]> {
      const rows = await db.query<{ key_hash: Buffer }>(statements.listAnswered, [keyHashes]);
      return rows.map(({ key_hash }) => key_hash);
    },
    /** Removes up to `limit` keys created before `time` (ms); returns how many. */
    async removeBefore(time: number, limit: number): Promise<number> {
      return (await db.query(statements.removeBefore, [time, limit])).length;
    },
  };
}
