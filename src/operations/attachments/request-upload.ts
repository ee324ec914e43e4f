import { z } from 'zod';
import { timestamp } from '../../presenters/agent.ts';
import { attachmentId as identifier } from '../../presenters/attachment.ts';
import { requestUpload } from '../../services/attachments/uploads.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleUpload, uploadErrors } from '../examples/attachments.ts';
import { fileName } from '../fields.ts';

export const requestUploadOperation = defineOperation({
  name: 'request_upload',
  summary: 'Get a signed address to which a file can be uploaded directly',
  scope: 'threads:write',
  kind: 'write',
  input: z.strictObject({
    filename: fileName,
    content_type: z.string().min(1).max(200).describe('Its media type; the bytes must be of it.'),
    size: z.int().min(1).describe('Its exact size in bytes, at most 10,485,760.'),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits')
      .optional()
      .describe('SHA-256 of its bytes; the completion then checks it.'),
  }),
  output: z.object({
    attachment_id: identifier.describe('What the file will be once the upload is complete.'),
    upload: z
      .object({
        method: z.literal('PUT').describe('The method of that request.'),
        url: z.url().describe('Where the bytes go, without a token.'),
        headers: z.record(z.string(), z.string()).describe('To be sent exactly so.'),
        expires_at: timestamp.describe('Upload and complete before this.'),
      })
      .describe('The request that brings the bytes.'),
  }),
  async run(work, input) {
    const { upload, address } = await requestUpload(work, input);
    const { id: attachment_id, expires_at } = upload;
    return { attachment_id, upload: { method: 'PUT' as const, ...address, expires_at } };
  },
  rest: { method: 'POST', path: '/attachments/uploads', status: 201, idempotency: 'required' },
  tool: {
    name: 'request_upload_url',
    description:
      'Prepares the upload of a file of up to 10 MiB. Send its bytes with PUT to upload.url with exactly upload.headers, then call complete_upload; for up to 1 MB upload_attachment does it in one step.',
    annotations: toolHints.write,
  },
  errors: uploadErrors,
  example: {
    input: {
      filename: exampleUpload.filename,
      content_type: exampleUpload.content_type,
      size: exampleUpload.size_bytes,
      sha256: exampleUpload.sha256,
    },
    output: {
      attachment_id: exampleUpload.id,
      upload: {
        method: 'PUT',
        url: 'http://localhost:3000/blobs/eyJtZXRob2QiOiJQVVQiLC4uLn0.c2lnbmF0dXJlLi4u',
        headers: { 'Content-Type': exampleUpload.content_type, 'Content-Length': '29' },
        expires_at: 1_794_000_890_000,
      },
    },
  },
});
