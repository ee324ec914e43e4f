import { z } from 'zod';
import { attachmentSchema, presentAttachment } from '../../../packages/core/src/records/attachment.ts';
import { requireAttachment } from '../../services/access.ts';
import { defineOperation } from '../define.ts';
import { exampleAttachment } from '../examples/attachments.ts';
import { attachmentId } from '../../../packages/core/src/inputs/fields.ts';

export const getAttachmentOperation = defineOperation({
  name: 'get_attachment',
  summary: 'Retrieve an attachment that you uploaded or that was sent in one of your threads',
  scope: 'threads:read',
  kind: 'read',
  input: z.strictObject({ attachment_id: attachmentId }),
  output: attachmentSchema,
  run: async (work, { attachment_id }) => presentAttachment(await requireAttachment(work, attachment_id)),
  rest: { method: 'GET', path: '/attachments/{attachment_id}', status: 200 },
  errors: ['ATTACHMENT_NOT_FOUND'],
  example: { input: { attachment_id: exampleAttachment.id }, output: exampleAttachment },
});
