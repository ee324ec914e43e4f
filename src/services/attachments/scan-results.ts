import type { ScanStatus } from '../../domain/attachments/attachments.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';

export interface ScanResult {
  scan_status: Exclude<ScanStatus, 'pending'>;
  /** The scanner that judged the bytes; null when none has seen them. */
  scanned_by: string | null;
}

/**
 * Notes what a scan found, unless another one was first, and tells the uploader; once the file is sent, every member of its thread
 * too.
 */
export async function recordScanResult(work: SystemWork, id: string, result: ScanResult): Promise<void> {
  const attachment = await work.attachments.setScan(id, result);
  if (!attachment) return;
  const { uploader_id, filename, content_type, size_bytes, message_id } = attachment;
  // By a statement of its own: this one may have waited for the very message that sends the file, and could not see it yet.
  const thread_id = message_id === null ? null : await work.attachments.findThread(id);
  const members = thread_id === null ? [] : await work.threadMembers.hold(thread_id);
  work.emit({
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
