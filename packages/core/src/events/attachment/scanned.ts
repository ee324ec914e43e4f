import { z } from 'zod';
import { exampleMessage } from '../../records/examples.ts';
import { messageId, threadIdentifier } from '../../records/message.ts';
import { defineEvent } from '../define-event.ts';

export const attachmentScanned = defineEvent({
  type: 'attachment.scanned',
  label: 'File scanned',
  scope: 'threads:read',
  isInboxItem: true,
  filters: ['thread_id'],
  resources: ['service://threads/{thread_id}'],
  data: z
    .object({
      attachment_id: z.string().meta({ pattern: '^att_' }).describe('Attachment identifier, att_…'),
      scan_status: z.enum(['clean', 'infected', 'failed']).describe('Result of the scan.'),
      filename: z.string().describe('File name.'),
      content_type: z.string().describe('Media type.'),
      size_bytes: z.int().min(1).describe('Size in bytes.'),
      message_id: messageId.nullable().describe('The message in which it was sent; null before that.'),
      thread_id: threadIdentifier.nullable().describe('The thread of that message.'),
    })
    .meta({ id: 'AttachmentScanned', description: 'An attachment was scanned.' }),
  example: {
    attachment_id: 'att_01K9ZX6R9U2W6Y8Z0B1C3E5F6G',
    scan_status: 'clean',
    filename: 'delivery-note.pdf',
    content_type: 'application/pdf',
    size_bytes: 18_212,
    message_id: exampleMessage.id,
    thread_id: exampleMessage.thread_id,
  },
});
