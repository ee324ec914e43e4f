import { type Queryable, statement, query } from '../queryable.ts';

/** A file that goes straight to the store, as its uploader says it will be. */
export interface UploadRow {
  id: string;
  uploader_id: string;
  storage_key: string;
  filename: string;
  content_type: string;
  size_bytes: number;
  /** In lower-case hexadecimal digits; null when the uploader did not say. */
  sha256: string | null;
  created_at: number;
  /** When its address ends, and the row with what was brought by then. */
  expires_at: number;
}

const columns =
  'id, uploader_id, storage_key, filename, content_type, size_bytes, sha256, created_at, expires_at';

const statements = {
  find: statement(
    'uploads.find',
    `select ${columns} from uploads where id = :id and uploader_id = :agent_id`,
  ),
  insert: statement(
    'uploads.insert',
    `insert into uploads (${columns}) values (:id, :uploader_id, :storage_key, :filename, :content_type, :size_bytes, :sha256, :created_at, :expires_at)`,
  ),
  removeExpired: statement(
    'uploads.remove_over',
    `delete from uploads where id in (
       select id from uploads where expires_at <= :now order by expires_at limit :limit for update skip locked)
     returning storage_key`,
  ),
  remove: statement('uploads.remove', 'delete from uploads where id = :id returning 1'),
};

export function uploadsRepository(db: Queryable) {
  return {
    async find(id: string, agentId: string): Promise<UploadRow | undefined> {
      return (await query<UploadRow>(db, statements.find, { id, agent_id: agentId }))[0];
    },
    async insert(upload: UploadRow): Promise<void> {
      const { id, uploader_id, storage_key, filename, content_type } = upload;
      const { size_bytes, sha256, created_at, expires_at } = upload;
      const file = { storage_key, filename, content_type, size_bytes, sha256 };
      await query(db, statements.insert, { id, uploader_id, ...file, created_at, expires_at });
    },
    /** Removes up to `limit` that were not completed in time; answers where their bytes lie, if they came. */
    async removeExpired(now: number, limit: number): Promise<string[]> {
      const rows = await query<{ storage_key: string }>(db, statements.removeExpired, { now, limit });
      return rows.map(({ storage_key }) => storage_key);
    },
    /** Answers whether there was one. */
    async remove(id: string): Promise<boolean> {
      return (await query(db, statements.remove, { id })).length > 0;
    },
  };
}
