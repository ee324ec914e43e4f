import { type Queryable, statement } from './queryable.ts';

export type ScanStatus = 'pending' | 'clean' | 'infected' | 'failed';

export interface AttachmentRow {
  id: string;
  uploader_id: string;
  /** The message in which it was sent; null before that. */
  message_id: string | null;
  /** Where its bytes lie in the blob store. */
  storage_key: string;
  filename: string;
  content_type: string;
  size_bytes: number;
  /** In lower-case hexadecimal digits. */
  sha256: string;
  scan_status: ScanStatus;
  /** The scanner that judged the bytes; null when none has seen them. */
  scanned_by: string | null;
  created_at: number;
  expires_at: number | null;
}

const statements = {
  find: statement(
    'attachments.find',
    `select id, uploader_id, message_id, storage_key, filename, content_type, size_bytes, sha256, scan_status, scanned_by,
       created_at, expires_at
     from attachments where id = $1`,
  ),
  insert: statement(
    'attachments.insert',
    `insert into attachments (id, uploader_id, storage_key, filename, content_type, size_bytes, sha256, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
  ),
  setScan: statement(
    'attachments.set_scan',
    `update attachments set scan_status = $2, scanned_by = $3 where id = $1 and scan_status = 'pending'`,
  ),
};

export type NewAttachment = Omit<AttachmentRow, 'message_id' | 'scan_status' | 'scanned_by'>;

export interface ScanResult {
  scan_status: Exclude<ScanStatus, 'pending'>;
  scanned_by: string | null;
}

export function attachmentsRepository(db: Queryable) {
  return {
    async find(id: string): Promise<AttachmentRow | undefined> {
      return (await db.query<AttachmentRow>(statements.find, [id]))[0];
    },
    /** A new upload: not sent yet, not scanned yet. */
    async insert(attachment: NewAttachment): Promise<void> {
      const { id, uploader_id, storage_key, filename, content_type } = attachment;
      const { size_bytes, sha256, created_at, expires_at } = attachment;
      const what = [id, uploader_id, storage_key, filename, content_type];
      await db.query(statements.insert, [...what, size_bytes, sha256, created_at, expires_at]);
    },
    /** Notes what the scan found, unless another scan has: the first finding stays. */
    async setScan(id: string, { scan_status, scanned_by }: ScanResult): Promise<void> {
      await db.query(statements.setScan, [id, scan_status, scanned_by]);
    },
  };
}
