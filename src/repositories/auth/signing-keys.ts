import { type Queryable, statement } from '../queryable.ts';

export interface SigningKeyRow {
  id: string;
  encrypted_key: Buffer;
  created_at: number;
}

const statements = {
  /** Conflicts with itself and with writers, not with readers. */
  lock: statement('signing_keys.lock', 'lock table signing_keys in share row exclusive mode'),
  list: statement(
    'signing_keys.list',
    'select id, encrypted_key, created_at from signing_keys order by created_at desc, id',
  ),
  insert: statement(
    'signing_keys.insert',
    'insert into signing_keys (id, encrypted_key, created_at) values ($1, $2, $3)',
  ),
  remove: statement('signing_keys.remove', 'delete from signing_keys where id = $1'),
};

export function signingKeysRepository(db: Queryable) {
  return {
    /** Locks the table until the transaction ends. Readers are not blocked. */
    async lock(): Promise<void> {
      await db.query(statements.lock, []);
    },
    /** Newest first. */
    list(): Promise<SigningKeyRow[]> {
      return db.query<SigningKeyRow>(statements.list, []);
    },
    async insert({ id, encrypted_key, created_at }: SigningKeyRow): Promise<void> {
      await db.query(statements.insert, [id, encrypted_key, created_at]);
    },
    async remove(id: string): Promise<void> {
      await db.query(statements.remove, [id]);
    },
  };
}
