import type { ScanStatus } from '../../../packages/core/src/domain/attachments/attachments.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';

export interface ScanResult {
  scan_status: Exclude<ScanStatus, 'pending'>;
  /** The scanner that gave the result; null if there was none. */
  scanned_by: string | null;
}

/**
 * Records the result of a scan, unless another scan was first, and emits attachment.scanned to the uploader and, if the file was
 * sent, to the members of its thread.
 */
export async function recordScanResult(work: SystemWork, id: string, result: ScanResult): Promise<void> {
  const attachment = await work.db.attachments.setScan(id, result);
  if (!attachment) return;
  const { uploader_id, filename, content_type, size_bytes, message_id } = attachment;
  // A separate statement: setScan may have waited for the transaction that sends the file, and its snapshot does not see that message.
  const thread_id = message_id === null ? null : await work.db.attachments.findThread(id);
  const members = thread_id === null ? [] : await work.db.threadMembers.lock(thread_id);
  work.changes.emit({
    type: 'attachment.scanned',
    ...(thread_id !== null && { thread_id }),
    recipients: [...new Set([uploader_id, ...members])],
    data: {
      attachment_id: id,
      scan_status: result.scan_status,
      filename,
      content_type,
      size_bytes,
      message_id,
      thread_id,
    },
  });
}
