import { z } from 'zod';
import { attachmentSchema, presentAttachment } from '../../presenters/attachment.ts';
import { addAttachment, requireUnsentQuota } from '../../services/attachments/attachments.ts';
import { defineOperation } from '../define.ts';
import { exampleUpload, uploadErrors } from '../examples/attachments.ts';
import type { IncomingFile } from '../execute/file-intake.ts';

/** The part of the body; faces that take one hand it over as it comes in. */
const file = z
  .custom<IncomingFile>(
    (value) => typeof value === 'object' && value !== null && 'open' in value,
    'is missing',
  )
  .meta({ type: 'string', format: 'binary' })
  .describe('The only part of the body: 1 byte to 10 MiB. Its type is decided from its bytes.');

export const createAttachmentOperation = defineOperation({
  name: 'create_attachment',
  summary: 'Upload a file, to be sent in a message within 24 hours',
  scope: 'threads:write',
  kind: 'write',
  input: z.strictObject({ file }),
  output: attachmentSchema,
  file: async (_work, input) => input.file,
  async run(work, _input, stored) {
    if (!stored) throw new Error('the file of an upload is always stored');
    await requireUnsentQuota(work);
    return presentAttachment(await addAttachment(work, stored));
  },
  rest: {
    method: 'POST',
    path: '/attachments',
    status: 201,
    idempotency: 'required',
    upload: 'file',
    location: ({ id }) => `/attachments/${id}`,
  },
  errors: uploadErrors,
  example: { input: { file: 'Order 1042 leaves on Tuesday.' }, output: exampleUpload },
});
