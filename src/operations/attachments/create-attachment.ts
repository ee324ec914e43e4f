import { z } from 'zod';
import { attachmentSchema, presentAttachment } from '../../../packages/core/src/records/attachment.ts';
import { addAttachment, requireUnsentQuota } from '../../services/attachments/attachments.ts';
import { defineOperation } from '../define.ts';
import { exampleUpload, uploadErrors } from '../examples/attachments.ts';
import type { IncomingFile } from '../execute/file-intake.ts';

/** The file part of the request body. Transports pass it on as a stream. */
const file = z
  .custom<IncomingFile>(
    (value) => typeof value === 'object' && value !== null && 'open' in value,
    'is missing',
  )
  .meta({ type: 'string', format: 'binary' })
  .describe(
    'The file, 1 byte to 10 MiB. It must be the only part of the body. If the part has no Content-Type, the media type is detected. A file that is declared as an image or PDF must be one.',
  );

export const createAttachmentOperation = defineOperation({
  name: 'create_attachment',
  summary: 'Upload a file. Send it in a message within 24 hours',
  scope: 'threads:write',
  kind: 'write',
  input: z.strictObject({ file }),
  output: attachmentSchema,
  file: async (_work, input) => input.file,
  async run(work, _input, stored) {
    if (!stored) throw new Error('an upload has no stored file');
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
