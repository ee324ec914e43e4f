import { z } from 'zod';
import { scanStatuses } from '../domain/attachments/attachments.ts';
import { timestamp } from './agent.ts';

export const attachmentId = z.string().meta({ pattern: '^att_' }).describe('Attachment identifier, att_…');

/** Attachment record of the contract, section 3. */
export const attachmentSchema = z
  .object({
    id: attachmentId,
    filename: z.string().describe('A safe base name, at most 180 characters.'),
    content_type: z.string().describe('Its media type, as its bytes say.'),
    size_bytes: z.int().min(1).describe('How large it is, in bytes.'),
    sha256: z
      .string()
      .meta({ pattern: '^[0-9a-f]{64}$' })
      .describe('SHA-256 of its bytes, in hexadecimal digits.'),
    scan_status: z.enum(scanStatuses).describe('Content is served only when this is clean.'),
    scanned_by: z.string().nullable().describe('Which scanner judged it; null when none has.'),
    created_at: timestamp,
    expires_at: timestamp
      .nullable()
      .describe('When it goes away unless it is sent in a message; null once it is.'),
  })
  .meta({ id: 'Attachment' })
  .describe('A file that was uploaded.');

export type AttachmentRecord = z.infer<typeof attachmentSchema>;

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
