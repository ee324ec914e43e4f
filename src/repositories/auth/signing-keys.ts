import { repository, sql } from '../sql.ts';

export interface SigningKeyRow {
  id: string;
  encrypted_key: Buffer;
  created_at: number;
}

export const signingKeysRepository = repository({
  /** Locks the table until the transaction ends. Readers are not blocked. Conflicts with itself and with writers, not with readers. */
  lock: sql.run<[]>('signing_keys.lock', 'lock table signing_keys in share row exclusive mode'),
  /** Newest first. */
  list: sql.rows<[], SigningKeyRow>(
    'signing_keys.list',
    'select id, encrypted_key, created_at from signing_keys order by created_at desc, id',
  ),
  insert: sql.run<[signingKeyRow: SigningKeyRow]>(
    'signing_keys.insert',
    'insert into signing_keys (id, encrypted_key, created_at) values (:id, :encrypted_key, :created_at)',
  ),
  remove: sql.run<[id: string]>('signing_keys.remove', 'delete from signing_keys where id = :id'),
});
