import { z } from 'zod';
import { scanStatuses } from '../domain/attachments/attachments.ts';
import { timestamp } from './agent.ts';

export const attachmentId = z.string().meta({ pattern: '^att_' }).describe('Attachment identifier, att_…');

/** Attachment record. */
export const attachmentSchema = z
  .object({
    id: attachmentId,
    filename: z.string().describe('A safe base name, at most 180 characters.'),
    content_type: z
      .string()
      .describe('Media type, as declared by the uploader; otherwise detected from the content.'),
    size_bytes: z.int().min(1).describe('Size in bytes.'),
    sha256: z.string().meta({ pattern: '^[0-9a-f]{64}$' }).describe('SHA-256 of the content, hexadecimal.'),
    scan_status: z.enum(scanStatuses).describe('Only clean attachments can be downloaded.'),
    scanned_by: z
      .string()
      .nullable()
      .describe('What gave the result: zip-check or clamav; null if nothing did.'),
    created_at: timestamp,
    expires_at: timestamp
      .nullable()
      .describe('When it expires unless it is sent in a message; null once it is sent.'),
  })
  .meta({ id: 'Attachment' })
  .describe('An uploaded file.');

export type AttachmentRecord = z.infer<typeof attachmentSchema>;

/** Returns an attachment from a row that may have more columns. */
export function presentAttachment(row: AttachmentRecord): AttachmentRecord {
  const { id, filename, content_type, size_bytes, sha256 } = row;
  const { scan_status, scanned_by, created_at, expires_at } = row;
  return {
    id,
    filename,
    content_type,
    size_bytes,
    sha256,
    scan_status,
    scanned_by,
    created_at,
    expires_at,
  };
}
