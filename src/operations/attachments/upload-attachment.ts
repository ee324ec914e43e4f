import { z } from 'zod';
import { attachmentSchema, presentAttachment } from '../../../packages/core/src/records/attachment.ts';
import { addAttachment, requireUnsentQuota } from '../../services/attachments/attachments.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleUpload, uploadErrors } from '../examples/attachments.ts';
import { fileName } from '../../../packages/core/src/inputs/fields.ts';

const maxBytes = 1_048_576;
/** RFC 4648, section 4, with padding. */
const base64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/;

/** RFC 2397. */
const dataAddress = /^data:(?<type>[^,;]*)(?:;[^,;]*?)*?(?<encoding>;base64)?,(?<data>.*)$/is;

/** The content and media type of a file that is given in base64 or as a `data:` address; undefined for other texts. */
function decodeFile(text: string): { bytes: Buffer; type?: string | undefined } | undefined {
  const { type, encoding, data } = dataAddress.exec(text.trim())?.groups ?? {};
  if (data === undefined) return toFile(decodeBase64(text));
  return toFile(encoding === undefined ? decodePercent(data) : decodeBase64(data), type || undefined);
}

const toFile = (bytes: Buffer | undefined, type?: string) => bytes && { bytes, type };

const decodeBase64 = (text: string) => (base64.test(text) ? Buffer.from(text, 'base64') : undefined);

function decodePercent(text: string): Buffer | undefined {
  try {
    return Buffer.from(decodeURIComponent(text));
  } catch {
    return undefined;
  }
}

const content = z
  .string()
  .refine(
    (value) => decodeFile(value) !== undefined,
    'must be base64 with padding; to upload plain text, send it as text',
  )
  .refine((value) => (decodeFile(value)?.bytes.length ?? 0) <= maxBytes, {
    error: 'must be at most 1 MiB; use request_upload_url for larger files',
  })
  .describe('The content of any file in base64, at most 1 MiB before encoding. Send either text or content.');

const text = z
  .string()
  .refine((value) => Buffer.byteLength(value) <= maxBytes, {
    error: 'must be at most 1 MiB; use request_upload_url for larger files',
  })
  .describe('The content of a text file, as it is. Send either text or content.');

/** `create_attachment` as a tool, with a small file in the arguments. */
export const uploadAttachmentOperation = defineOperation({
  name: 'upload_attachment',
  summary: 'Upload a small file',
  scope: 'threads:write',
  kind: 'write',
  input: z
    .strictObject({
      filename: fileName,
      text: text.optional(),
      content: content.optional(),
      content_type: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe('The media type. Default: detected from the content and the file name.'),
    })
    .refine((input) => (input.text === undefined) !== (input.content === undefined), {
      path: ['content'],
      error: 'send either text, for a text file, or content in base64',
    }),
  output: attachmentSchema,
  file: async (_work, { filename, text: plain, content: encoded = '', content_type }) => ({
    async open() {
      const file = plain === undefined ? decodeFile(encoded) : { bytes: Buffer.from(plain) };
      const bytes = (async function* () {
        yield file?.bytes ?? Buffer.alloc(0);
      })();
      return { filename, content_type: content_type ?? file?.type, bytes };
    },
  }),
  async run(work, _input, stored) {
    if (!stored) throw new Error('an upload has no stored file');
    await requireUnsentQuota(work);
    return presentAttachment(await addAttachment(work, stored));
  },
  tool: {
    description:
      'Uploads a file of up to 1 MiB: pass text for a text file, or content in base64. Call it before send_message, and pass the id in attachment_ids within 24 h. For larger files use request_upload_url; a short text needs no file.',
    annotations: toolHints.write,
  },
  errors: uploadErrors,
  example: {
    input: { filename: exampleUpload.filename, text: 'Order 1042 leaves on Tuesday.' },
    output: exampleUpload,
  },
});
