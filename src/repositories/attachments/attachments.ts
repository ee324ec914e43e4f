import type { ScanStatus, StoredFile } from '../../../packages/core/src/domain/attachments/attachments.ts';
import { hideFromPlanner, type NamedStatement, query, type Queryable, statement } from '../queryable.ts';

/** The columns that clients see. */
export interface AttachmentColumns {
  id: string;
  filename: string;
  content_type: string;
  size_bytes: number;
  /** In lower-case hexadecimal digits. */
  sha256: string;
  scan_status: ScanStatus;
  /** The scanner that scanned the file; null before that. */
  scanned_by: string | null;
  created_at: number;
  /** When it is removed if it is not sent; null once it is sent. */
  expires_at: number | null;
}

export interface AttachmentRow extends AttachmentColumns {
  uploader_id: string;
  /** The message with which it was sent; null before that. */
  message_id: string | null;
  /** Its key in the blob store. */
  storage_key: string;
  /** The beginning of a text; null for other types. */
  preview: string | null;
}

const publicColumns = [
  'id',
  'filename',
  'content_type',
  'size_bytes',
  'sha256',
  'scan_status',
  'scanned_by',
  'created_at',
  'expires_at',
] as const satisfies (keyof AttachmentColumns)[];

/** Columns of `attachments t`. */
const columns = [...publicColumns, 'uploader_id', 'message_id', 'storage_key', 'preview']
  .map((name) => `t.${name}`)
  .join(', ');

/** For `messages m`: their attachments in order, as JSON. Messages without attachments cost nothing. */
export const filesOfMessages = `case when m.attachment_count > 0 then (
    select coalesce(json_agg(json_build_object(${publicColumns.map((name) => `'${name}', t.${name}`).join(', ')}) order by t.position), '[]')
    from attachments t where t.message_id = m.id) else '[]'::json end`;

/** Locks in the order of ids, so that two transactions never wait for each other. */
function lockOwn({ wait }: { wait: boolean }): NamedStatement {
  return statement(
    wait ? 'attachments.lock_own' : 'attachments.lock_own_unlocked',
    `select ${columns} from attachments t
     where (t.id, t.uploader_id) in (select * from unnest(${hideFromPlanner(':ids', 'text[]')}, ${hideFromPlanner(':uploader_ids', 'text[]')}))
     order by t.id for update of t${wait ? '' : ' skip locked'}`,
  );
}

const statements = {
  find: statement('attachments.find', `select ${columns} from attachments t where t.id = :id`),
  findSeen: statement(
    'attachments.find_seen',
    `select ${columns} from attachments t where t.id = :id and (t.uploader_id = :agent_id or exists (
       select from messages m join thread_members v on v.thread_id = m.thread_id where m.id = t.message_id and v.agent_id = :agent_id))`,
  ),
  listPreviews: statement(
    'attachments.list_previews',
    `select id, left(preview, :characters::int) as preview, storage_key from attachments
     where id = any(:ids) and scan_status = 'clean'`,
  ),
  lockOwn: { wait: lockOwn({ wait: true }), skip: lockOwn({ wait: false }) },
  insert: statement(
    'attachments.insert',
    `insert into attachments
       (id, uploader_id, storage_key, filename, content_type, size_bytes, sha256, preview, created_at, expires_at)
     values (:id, :uploader_id, :storage_key, :filename, :content_type, :size_bytes, :sha256, :preview, :created_at, :expires_at)`,
  ),
  /** Includes uploads that are not complete. */
  countUnsent: statement(
    'attachments.count_unsent',
    `select count(*)::int as held, min(created_at) as oldest from (
       select created_at from attachments where uploader_id = :agent_id and message_id is null and created_at > :since
       union all select created_at from uploads where uploader_id = :agent_id and created_at > :since) u`,
  ),
  markSent: statement(
    'attachments.mark_sent',
    `update attachments t set message_id = s.message_id, position = s.position, expires_at = null
     from unnest(:ids::text[], :message_ids::text[], :positions::int[]) s (id, message_id, position) where t.id = s.id`,
  ),
  setScan: statement(
    'attachments.set_scan',
    `update attachments t set scan_status = :scan_status, scanned_by = :scanned_by, preview = case when :scan_status = 'clean' then preview end
     where t.id = :id and t.scan_status = 'pending'
     returning ${columns}`,
  ),
  findThread: statement(
    'attachments.find_thread',
    'select m.thread_id from attachments t join messages m on m.id = t.message_id where t.id = :id',
  ),
  removeExpired: statement(
    'attachments.remove_expired',
    `delete from attachments where id in (
       select id from attachments where expires_at <= :now order by expires_at limit :limit for update skip locked)
     returning storage_key`,
  ),
  removeOrphaned: statement(
    'attachments.remove_orphaned',
    `delete from attachments where id = any(array(
       select id from attachments t
       where message_id < :message_id and not exists (select from messages where id = t.message_id) order by message_id limit :limit))
     returning storage_key`,
  ),
  /** Only clean files are served, and the scan finds missing bytes of others. Bytes of new files may still be arriving. */
  listKeys: statement(
    'attachments.list_keys',
    `select id, storage_key from attachments
     where storage_key > :after and storage_key <= :last and scan_status = 'clean' and created_at < :before order by storage_key`,
  ),
  findKeys: statement(
    'attachments.find_keys',
    `select storage_key from attachments where storage_key = any(:keys) and scan_status <> 'infected'
     union all select storage_key from uploads where storage_key = any(:keys)`,
  ),
  setLost: statement(
    'attachments.set_lost',
    `update attachments set scan_status = 'failed', preview = null where id = any(:ids) and scan_status = 'clean'`,
  ),
  recordScanTrouble: statement(
    'attachments.record_scan_trouble',
    `update attachments set scan_trouble_since = coalesce(scan_trouble_since, :now) where id = :id returning scan_trouble_since`,
  ),
};

export interface NewAttachment extends StoredFile {
  id: string;
  uploader_id: string;
  created_at: number;
  expires_at: number | null;
}

/** What maintenance does with files and their storage keys. */
function createStorageMaintenance(db: Queryable) {
  return {
    /** Removes up to `limit` unsent files that have expired; returns their storage keys. */
    async removeExpired(now: number, limit: number): Promise<string[]> {
      const rows = await query<{ storage_key: string }>(db, statements.removeExpired, { now, limit });
      return rows.map(({ storage_key }) => storage_key);
    },
    /** Removes up to `limit` files of deleted messages with ids below this one; returns their storage keys. */
    async removeOrphaned(messageId: string, limit: number): Promise<string[]> {
      const rows = await query<{ storage_key: string }>(db, statements.removeOrphaned, {
        message_id: messageId,
        limit,
      });
      return rows.map(({ storage_key }) => storage_key);
    },
    /** Clean files created before a time (ms), with storage keys after `after` and up to `last`. */
    listKeys(after: string, last: string, before: number): Promise<{ id: string; storage_key: string }[]> {
      return query<{ id: string; storage_key: string }>(db, statements.listKeys, { after, last, before });
    },
    /** Those of these storage keys that belong to attachments or to incomplete uploads. */
    async findKeys(keys: readonly string[]): Promise<Set<string>> {
      const rows = await query<{ storage_key: string }>(db, statements.findKeys, { keys });
      return new Set(rows.map(({ storage_key }) => storage_key));
    },
    /** Marks files whose bytes are lost as failed: they are no longer served. */
    async setLost(ids: readonly string[]): Promise<void> {
      await query(db, statements.setLost, { ids });
    },
  };
}

export function attachmentsRepository(db: Queryable) {
  return {
    ...createStorageMaintenance(db),
    async find(id: string): Promise<AttachmentRow | undefined> {
      return (await query<AttachmentRow>(db, statements.find, { id }))[0];
    },
    /** An attachment that the agent uploaded, or that was sent in a thread of the agent. */
    async findSeen(id: string, agentId: string): Promise<AttachmentRow | undefined> {
      return (await query<AttachmentRow>(db, statements.findSeen, { id, agent_id: agentId }))[0];
    },
    /** The beginning of the text, and the storage key, of those of these files that are clean. */
    listPreviews(
      ids: readonly string[],
      characters: number,
    ): Promise<Pick<AttachmentRow, 'id' | 'preview' | 'storage_key'>[]> {
      return query(db, statements.listPreviews, { ids, characters });
    },
    /** Locks files until the transaction ends; those that their agent has not uploaded are left out. */
    lockOwn(
      files: readonly { id: string; uploader_id: string }[],
      { wait }: { wait: boolean },
    ): Promise<AttachmentRow[]> {
      return query<AttachmentRow>(db, statements.lockOwn[wait ? 'wait' : 'skip'], {
        ids: files.map(({ id }) => id),
        uploader_ids: files.map(({ uploader_id }) => uploader_id),
      });
    },
    /** Inserts a file that is neither sent nor scanned. */
    async insert(attachment: NewAttachment): Promise<void> {
      const { id, uploader_id, storage_key, filename, content_type } = attachment;
      const { size_bytes, sha256, preview, created_at, expires_at } = attachment;
      const file = { storage_key, filename, content_type, size_bytes, sha256, preview };
      await query(db, statements.insert, { id, uploader_id, ...file, created_at, expires_at });
    },
    /** How many unsent files and uploads of an agent are newer than `since` (ms), and when the oldest of them was created. */
    async countUnsent(agentId: string, since: number): Promise<{ held: number; oldest: number | null }> {
      const rows = await query<{ held: number; oldest: number | null }>(db, statements.countUnsent, {
        agent_id: agentId,
        since,
      });
      return rows[0] ?? { held: 0, oldest: null };
    },
    /** Makes files part of messages. They must be locked and not sent. */
    async markSent(files: readonly { id: string; message_id: string; position: number }[]): Promise<void> {
      await query(db, statements.markSent, {
        ids: files.map(({ id }) => id),
        message_ids: files.map(({ message_id }) => message_id),
        positions: files.map(({ position }) => position),
      });
    },
    /**
     * Records the result of a scan. Returns undefined when it has a result already: the first one stays. Only clean files keep their
     * preview.
     */
    async setScan(
      id: string,
      { scan_status, scanned_by }: { scan_status: Exclude<ScanStatus, 'pending'>; scanned_by: string | null },
    ): Promise<AttachmentRow | undefined> {
      return (await query<AttachmentRow>(db, statements.setScan, { id, scan_status, scanned_by }))[0];
    },
    /** The id of the thread in which it was sent; null before it is sent. */
    async findThread(id: string): Promise<string | null> {
      const rows = await query<{ thread_id: string }>(db, statements.findThread, { id });
      return rows[0]?.thread_id ?? null;
    },
    /** Records that no scanner could scan the file; returns the time of the first failure, in milliseconds. */
    async recordScanTrouble(id: string, now: number): Promise<number | undefined> {
      const rows = await query<{ scan_trouble_since: number }>(db, statements.recordScanTrouble, { id, now });
      return rows[0]?.scan_trouble_since;
    },
  };
}
