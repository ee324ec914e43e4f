import type { ScanStatus, StoredFile } from '../../../packages/core/src/domain/attachments/attachments.ts';
import { type NamedStatement, query, statement } from '../queryable.ts';
import { repository, sql } from '../sql.ts';

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
     where (t.id, t.uploader_id) in (select * from unnest(:ids::text[], :uploader_ids::text[]))
     order by t.id for update of t${wait ? '' : ' skip locked'}`,
  );
}

const statements = {
  lockOwn: { wait: lockOwn({ wait: true }), skip: lockOwn({ wait: false }) },
  findKeys: statement(
    'attachments.find_keys',
    `select storage_key from attachments where storage_key = any(:keys::text[]) and scan_status <> 'infected'
     union all select storage_key from uploads where storage_key = any(:keys::text[])`,
  ),
};

export interface NewAttachment extends StoredFile {
  id: string;
  uploader_id: string;
  created_at: number;
  expires_at: number | null;
}

/** What maintenance does with files and their storage keys. */
const createStorageMaintenance = repository(
  {
    /** Removes up to `limit` unsent files that have expired; returns their storage keys. */
    removeExpired: sql.values<[now: number, limit: number], string>(
      'attachments.remove_expired(now, limit)',
      `delete from attachments where id in (
         select id from attachments where expires_at <= :now order by expires_at limit :limit for update skip locked)
       returning storage_key`,
    ),
    /** Files of an agent, in the order of the ids. */
    listOwn: sql.rows<
      [uploaderId: string, ids: readonly string[]],
      Pick<AttachmentRow, 'id' | 'filename' | 'size_bytes'>
    >(
      'attachments.list_own(uploader_id, ids)',
      `select id, filename, size_bytes from attachments where uploader_id = :uploader_id and id = any(:ids::text[]) order by array_position(:ids, id)`,
    ),
    /** Unsent files of an agent expire at this time at the earliest. */
    keepUnsent: sql.run<[uploaderId: string, ids: readonly string[], until: number]>(
      'attachments.keep_unsent(uploader_id, ids, until)',
      `update attachments set expires_at = greatest(expires_at, :until)
       where uploader_id = :uploader_id and id = any(:ids::text[]) and message_id is null and expires_at is not null`,
    ),
    /** Those of these files that were not sent expire. */
    expireUnsent: sql.run<[ids: readonly string[], now: number]>(
      'attachments.expire_unsent(ids, now)',
      `update attachments set expires_at = :now where id = any(:ids::text[]) and message_id is null`,
    ),
    /** Removes up to `limit` files of deleted messages with ids below this one; returns their storage keys. */
    removeOrphaned: sql.values<[messageId: string, limit: number], string>(
      'attachments.remove_orphaned(message_id, limit)',
      `delete from attachments where id = any(array(
         select id from attachments t
         where message_id < :message_id and not exists (select from messages where id = t.message_id) order by message_id limit :limit))
       returning storage_key`,
    ),
    /**
     * Clean files created before a time (ms), with storage keys after `after` and up to `last`, but none of `stored`. Only clean files are
     * served, and the scan finds missing bytes of others. Bytes of new files may still be arriving.
     */
    listLost: sql.values<
      [range: { after: string; last: string; before: number; stored: readonly string[]; limit: number }],
      string
    >(
      'attachments.list_lost',
      `select id from attachments where storage_key > :after and storage_key <= :last and scan_status = 'clean' and created_at < :before
         and storage_key <> all(:stored::text[]) order by storage_key limit :limit`,
    ),
  },
  (db) => ({
    /** Those of these storage keys that belong to attachments or to incomplete uploads. */
    async findKeys(keys: readonly string[]): Promise<Set<string>> {
      const rows = await query<{ storage_key: string }>(db, statements.findKeys, { keys });
      return new Set(rows.map(({ storage_key }) => storage_key));
    },
  }),
);

export const attachmentsRepository = repository(
  {
    find: sql.row<[id: string], AttachmentRow>(
      'attachments.find',
      `select ${columns} from attachments t where t.id = :id`,
    ),
    /** An attachment that the agent uploaded, or that was sent in a thread of the agent. */
    findSeen: sql.row<[id: string, agentId: string], AttachmentRow>(
      'attachments.find_seen(id, agent_id)',
      `select ${columns} from attachments t where t.id = :id and (t.uploader_id = :agent_id or exists (
         select from messages m join thread_members v on v.thread_id = m.thread_id where m.id = t.message_id and v.agent_id = :agent_id))`,
    ),
    /** The beginning of the text, and the storage key, of those of these files that are clean. */
    listPreviews: sql.rows<
      [ids: readonly string[], characters: number],
      Pick<AttachmentRow, 'id' | 'preview' | 'storage_key'>
    >(
      'attachments.list_previews(ids, characters)',
      `select id, left(preview, :characters::int) as preview, storage_key from attachments
       where id = any(:ids::text[]) and scan_status = 'clean'`,
    ),
    /** Inserts a file that is neither sent nor scanned. */
    insert: sql.run<[attachment: NewAttachment]>(
      'attachments.insert',
      `insert into attachments
         (id, uploader_id, storage_key, filename, content_type, size_bytes, sha256, preview, created_at, expires_at)
       values (:id, :uploader_id, :storage_key, :filename, :content_type, :size_bytes, :sha256, :preview, :created_at, :expires_at)`,
    ),
    /**
     * How many unsent files and uploads of an agent are newer than `since` (ms), and when the oldest of them was created. Includes uploads
     * that are not complete.
     */
    countUnsent: sql.single<[agentId: string, since: number], { held: number; oldest: number | null }>(
      'attachments.count_unsent(agent_id, since)',
      `select count(*)::int as held, min(created_at) as oldest from (
         select created_at from attachments where uploader_id = :agent_id and message_id is null and created_at > :since
         union all select created_at from uploads where uploader_id = :agent_id and created_at > :since) u`,
    ),
    /** Makes files part of messages. They must be locked and not sent. */
    markSent: sql.run<[files: readonly { id: string; message_id: string; position: number }[]]>(
      'attachments.mark_sent',
      `update attachments t set message_id = s.message_id, position = s.position, expires_at = null
       from unnest(:ids::text[], :message_ids::text[], :positions::int[]) s (id, message_id, position) where t.id = s.id`,
      (files) => ({
        ids: files.map(({ id }) => id),
        message_ids: files.map(({ message_id }) => message_id),
        positions: files.map(({ position }) => position),
      }),
    ),
    /**
     * Records the result of a scan. Returns undefined when it has a result already: the first one stays. Only clean files keep their
     * preview.
     */
    setScan: sql.row<
      [id: string, fields: { scan_status: Exclude<ScanStatus, 'pending'>; scanned_by: string | null }],
      AttachmentRow
    >(
      'attachments.set_scan(id, ...)',
      `update attachments t set scan_status = :scan_status, scanned_by = :scanned_by, preview = case when :scan_status = 'clean' then preview end
       where t.id = :id and t.scan_status = 'pending'
       returning ${columns}`,
    ),
    /** The id of the thread in which it was sent; null before it is sent. */
    findThread: sql.value<[id: string], string | null>(
      'attachments.find_thread',
      'select (select m.thread_id from attachments t join messages m on m.id = t.message_id where t.id = :id) as thread_id',
    ),
    /** Records that no scanner could scan the file; returns the time of the first failure, in milliseconds. */
    recordScanTrouble: sql.value<[id: string, now: number], number | undefined>(
      'attachments.record_scan_trouble(id, now)',
      `update attachments set scan_trouble_since = coalesce(scan_trouble_since, :now) where id = :id returning scan_trouble_since`,
    ),
  },
  (db) => ({
    ...createStorageMaintenance(db),
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
  }),
);
