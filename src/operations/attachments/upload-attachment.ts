import { z } from 'zod';
import { attachmentSchema, presentAttachment } from '../../presenters/attachment.ts';
import { addAttachment, requireUnsentQuota } from '../../services/attachments/attachments.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleUpload, uploadErrors } from '../examples/attachments.ts';
import { fileName } from '../fields.ts';

const maxBytes = 1_048_576;
const alphabet = /^[A-Za-z\d+/_-]*={0,2}$/;

const content = z
  .string()
  .refine((value) => alphabet.test(value), 'must be base64')
  .refine((value) => Buffer.byteLength(value, 'base64') <= maxBytes, {
    error: 'must be at most 1 MiB; use request_upload_url for larger files',
  })
  .describe('The content in base64, at most 1 MiB before encoding.');

/** `create_attachment` as a tool, with a small file in the arguments. */
export const uploadAttachmentOperation = defineOperation({
  name: 'upload_attachment',
  summary: 'Upload a small file. Send it in a message within 24 hours',
  scope: 'threads:write',
  kind: 'write',
  input: z.strictObject({
    filename: fileName,
    content,
    content_type: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('The media type. Default: detected from the content and the file name.'),
  }),
  output: attachmentSchema,
  file: async (_work, { filename, content: base64, content_type }) => ({
    async open() {
      const bytes = (async function* () {
        yield Buffer.from(base64, 'base64');
      })();
      return { filename, content_type, bytes };
    },
  }),
  async run(work, _input, stored) {
    if (!stored) throw new Error('an upload has no stored file');
    await requireUnsentQuota(work);
    return presentAttachment(await addAttachment(work, stored));
  },
  tool: {
    description:
      'Uploads a file of up to 1 MiB. Send it with attachment_ids of send_message within 24 hours. For larger files use request_upload_url.',
    annotations: toolHints.write,
  },
  errors: uploadErrors,
  example: {
    input: { filename: exampleUpload.filename, content: 'T3JkZXIgMTA0MiBsZWF2ZXMgb24gVHVlc2RheS4=' },
    output: exampleUpload,
  },
});
