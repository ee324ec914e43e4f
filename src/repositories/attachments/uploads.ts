import { repository, sql } from '../sql.ts';

/** A file that is uploaded directly to the store, as its uploader announced it. */
export interface UploadRow {
  id: string;
  uploader_id: string;
  storage_key: string;
  filename: string;
  content_type: string;
  size_bytes: number;
  /** In lower-case hexadecimal digits; null when the uploader did not send it. */
  sha256: string | null;
  created_at: number;
  /** When its URL expires. The row and any bytes are removed then. */
  expires_at: number;
}

const columns =
  'id, uploader_id, storage_key, filename, content_type, size_bytes, sha256, created_at, expires_at';

export const uploadsRepository = repository({
  /** An upload of this agent. */
  find: sql.row<[id: string, agentId: string], UploadRow>(
    'uploads.find(id, agent_id)',
    `select ${columns} from uploads where id = :id and uploader_id = :agent_id`,
  ),
  insert: sql.run<[upload: UploadRow]>(
    'uploads.insert',
    `insert into uploads (${columns}) values (:id, :uploader_id, :storage_key, :filename, :content_type, :size_bytes, :sha256, :created_at, :expires_at)`,
  ),
  /** Removes up to `limit` expired uploads; returns their storage keys, which may hold no bytes. */
  removeExpired: sql.values<[now: number, limit: number], string>(
    'uploads.remove_expired(now, limit)',
    `delete from uploads where id in (
       select id from uploads where expires_at <= :now order by expires_at limit :limit for update skip locked)
     returning storage_key`,
  ),
  /** Returns false when there is no such upload. */
  remove: sql.hasRow<[id: string]>('uploads.remove', 'delete from uploads where id = :id returning 1'),
});
