import type { ScanStatus, StoredFile } from '../../domain/attachments/attachments.ts';
import { type Queryable, statement, query } from '../queryable.ts';

/** As it is shown. */
export interface AttachmentColumns {
  id: string;
  filename: string;
  content_type: string;
  size_bytes: number;
  /** In lower-case hexadecimal digits. */
  sha256: string;
  scan_status: ScanStatus;
  /** The scanner that judged the bytes; null when none has seen them. */
  scanned_by: string | null;
  created_at: number;
  /** When it goes away unless it is sent; null once it is. */
  expires_at: number | null;
}

export interface AttachmentRow extends AttachmentColumns {
  uploader_id: string;
  /** The message in which it was sent; null before that. */
  message_id: string | null;
  /** Where its bytes lie in the blob store. */
  storage_key: string;
  /** How a text begins; null for anything else. */
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

/** Of attachments t. */
const columns = [...publicColumns, 'uploader_id', 'message_id', 'storage_key', 'preview']
  .map((name) => `t.${name}`)
  .join(', ');

/** The files of messages m, in their order, as JSON. Messages without any cost nothing. */
export const filesOfMessages = `case when m.attachment_count > 0 then (
    select coalesce(json_agg(json_build_object(${publicColumns.map((name) => `'${name}', t.${name}`).join(', ')}) order by t.position), '[]')
    from attachments t where t.message_id = m.id) else '[]'::json end`;

const statements = {
  find: statement('attachments.find', `select ${columns} from attachments t where t.id = :id`),
  findSeen: statement(
    'attachments.find_seen',
    `select ${columns} from attachments t where t.id = :id and (t.uploader_id = :agent_id or exists (
       select from messages m join thread_members v on v.thread_id = m.thread_id where m.id = t.message_id and v.agent_id = :agent_id))`,
  ),
  /** In the order of their ids, as every other one who locks several of them. */
  lockOwn: statement(
    'attachments.lock_own',
    `select ${columns} from attachments t where t.id = any(:ids) and t.uploader_id = :agent_id order by t.id for update`,
  ),
  insert: statement(
    'attachments.insert',
    `insert into attachments
       (id, uploader_id, storage_key, filename, content_type, size_bytes, sha256, preview, created_at, expires_at)
     values (:id, :uploader_id, :storage_key, :filename, :content_type, :size_bytes, :sha256, :preview, :created_at, :expires_at)`,
  ),
  /** With those that are promised and not here yet. */
  countUnsent: statement(
    'attachments.count_unsent',
    `select count(*)::int as held, min(created_at) as oldest from (
       select created_at from attachments where uploader_id = :agent_id and message_id is null and created_at > :since
       union all select created_at from uploads where uploader_id = :agent_id and created_at > :since) u`,
  ),
  send: statement(
    'attachments.send',
    `update attachments t set message_id = :message_id, position = s.position, expires_at = null
     from unnest(:ids::text[]) with ordinality s (id, position) where t.id = s.id`,
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
    'attachments.remove_over',
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
  /** What is new may be on its way; only what is clean is served, and the scan finds out about the rest. */
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
    'attachments.set_trouble',
    `update attachments set scan_trouble_since = coalesce(scan_trouble_since, :now) where id = :id returning scan_trouble_since`,
  ),
};

export interface NewAttachment extends StoredFile {
  id: string;
  uploader_id: string;
  created_at: number;
  expires_at: number | null;
}

export function attachmentsRepository(db: Queryable) {
  return {
    async find(id: string): Promise<AttachmentRow | undefined> {
      return (await query<AttachmentRow>(db, statements.find, { id }))[0];
    },
    /** One that the agent has uploaded, or that was sent in a thread which it is a member of. */
    async findSeen(id: string, agentId: string): Promise<AttachmentRow | undefined> {
      return (await query<AttachmentRow>(db, statements.findSeen, { id, agent_id: agentId }))[0];
    },
    /** Those that the agent has uploaded, held until the transaction ends. */
    lockOwn(ids: readonly string[], agentId: string): Promise<AttachmentRow[]> {
      return query<AttachmentRow>(db, statements.lockOwn, { ids, agent_id: agentId });
    },
    /** A new upload: not sent yet, not scanned yet. */
    async insert(attachment: NewAttachment): Promise<void> {
      const { id, uploader_id, storage_key, filename, content_type } = attachment;
      const { size_bytes, sha256, preview, created_at, expires_at } = attachment;
      const file = { storage_key, filename, content_type, size_bytes, sha256, preview };
      await query(db, statements.insert, { id, uploader_id, ...file, created_at, expires_at });
    },
    /** How many files of an agent that came after this time (ms) are not sent, and when the oldest of them came. */
    async countUnsent(agentId: string, since: number): Promise<{ held: number; oldest: number | null }> {
      const rows = await query<{ held: number; oldest: number | null }>(db, statements.countUnsent, {
        agent_id: agentId,
        since,
      });
      return rows[0] ?? { held: 0, oldest: null };
    },
    /** Makes them the files of a message, in this order. They must be held and not be sent. */
    async send(messageId: string, ids: readonly string[]): Promise<void> {
      await query(db, statements.send, { message_id: messageId, ids });
    },
    /**
     * Notes what the scan found, unless another scan has: the first finding stays, and later ones answer nothing. Only what is
     * clean keeps its preview.
     */
    async setScan(
      id: string,
      { scan_status, scanned_by }: { scan_status: Exclude<ScanStatus, 'pending'>; scanned_by: string | null },
    ): Promise<AttachmentRow | undefined> {
      return (await query<AttachmentRow>(db, statements.setScan, { id, scan_status, scanned_by }))[0];
    },
    /** The id of the thread in which it was sent; null before that. */
    async findThread(id: string): Promise<string | null> {
      const rows = await query<{ thread_id: string }>(db, statements.findThread, { id });
      return rows[0]?.thread_id ?? null;
    },
    /** Removes up to `limit` uploads that were not sent in time; answers where their bytes lie. */
    async removeExpired(now: number, limit: number): Promise<string[]> {
      const rows = await query<{ storage_key: string }>(db, statements.removeExpired, { now, limit });
      return rows.map(({ storage_key }) => storage_key);
    },
    /** Removes up to `limit` files of messages below this id that are gone; answers where their bytes lie. */
    async removeOrphaned(messageId: string, limit: number): Promise<string[]> {
      const rows = await query<{ storage_key: string }>(db, statements.removeOrphaned, {
        message_id: messageId,
        limit,
      });
      return rows.map(({ storage_key }) => storage_key);
    },
    /** The clean ones older than this time (ms) whose bytes must lie under a key after the first and up to the last. */
    listKeys(after: string, last: string, before: number): Promise<{ id: string; storage_key: string }[]> {
      return query<{ id: string; storage_key: string }>(db, statements.listKeys, { after, last, before });
    },
    /** Which of these keys bytes belong under, of attachments and of uploads that are not complete. */
    async findKeys(keys: readonly string[]): Promise<Set<string>> {
      const rows = await query<{ storage_key: string }>(db, statements.findKeys, { keys });
      return new Set(rows.map(({ storage_key }) => storage_key));
    },
    /** Notes that their bytes are lost: they are not served any more. */
    async setLost(ids: readonly string[]): Promise<void> {
      await query(db, statements.setLost, { ids });
    },
    /** Notes that no scanner could judge it; answers since when that is so, in milliseconds. */
    async recordScanTrouble(id: string, now: number): Promise<number | undefined> {
      const rows = await query<{ scan_trouble_since: number }>(db, statements.recordScanTrouble, { id, now });
      return rows[0]?.scan_trouble_since;
    },
  };
}
