import { z } from 'zod';
import { requestUploadInput } from '../../../packages/core/src/inputs/attachments.ts';
import { timestamp } from '../../../packages/core/src/records/agent.ts';
import { attachmentId as identifier } from '../../../packages/core/src/records/attachment.ts';
import { requestUpload } from '../../services/attachments/uploads.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleUpload, uploadErrors } from '../examples/attachments.ts';

export const requestUploadOperation = defineOperation({
  name: 'request_upload',
  summary: 'Create a URL for a direct upload',
  scope: 'threads:write',
  kind: 'write',
  input: requestUploadInput,
  output: z.object({
    attachment_id: identifier.describe('The id of the attachment after you have completed the upload.'),
    upload: z
      .object({
        method: z.literal('PUT').describe('The HTTP method.'),
        url: z.url().describe('The URL. It needs no token.'),
        headers: z.record(z.string(), z.string()).describe('Headers to send, unchanged.'),
        expires_at: timestamp.describe('Upload and complete the file before this time.'),
      })
      .describe('The request with which you upload the bytes.'),
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
      'Starts the upload of a file of up to 10 MiB. Send the bytes with PUT to upload.url with exactly upload.headers, then call complete_upload. Use it for files over 1 MiB; for others, upload_attachment.',
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
