import { z } from 'zod';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { BlobMissing } from '../../platform/blobs/store.ts';
import { attachmentSchema, presentAttachment } from '../../../packages/core/src/records/attachment.ts';
import { completeUpload, findUploadToComplete } from '../../services/attachments/uploads.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleUpload, uploadErrors } from '../examples/attachments.ts';
import { attachmentId } from '../../../packages/core/src/inputs/fields.ts';
import type { OpenedFile } from '../execute/file-intake.ts';

export const completeUploadOperation = defineOperation({
  name: 'complete_upload',
  summary: 'Complete a direct upload',
  scope: 'threads:write',
  kind: 'write',
  input: z.strictObject({ attachment_id: attachmentId }),
  output: attachmentSchema,
  /** Copies the bytes to another key: a client with the upload URL could otherwise replace them after the scan. */
  async file(work, { attachment_id }) {
    const upload = await findUploadToComplete(work, attachment_id);
    if (!upload) return null;
    const { storage_key, filename, content_type } = upload;
    return {
      async open(blobs): Promise<OpenedFile> {
        const bytes = await blobs.read(storage_key).catch((error: unknown) => {
          throw error instanceof BlobMissing ? notUploaded() : unreadable(error);
        });
        return { filename, content_type, bytes };
      },
    };
  },
  run: async (work, { attachment_id }, file) =>
    presentAttachment(await completeUpload(work, attachment_id, file)),
  rest: { method: 'POST', path: '/attachments/{attachment_id}/complete', status: 200 },
  tool: {
    description:
      'Completes an upload of request_upload_url, and returns the attachment. Call it after sending the bytes, not after upload_attachment.',
    annotations: { ...toolHints.write, idempotentHint: true },
  },
  errors: ['ATTACHMENT_NOT_FOUND', 'ATTACHMENT_NOT_READY', ...uploadErrors],
  example: { input: { attachment_id: exampleUpload.id }, output: exampleUpload },
});

function notUploaded(): DomainError {
  const message = 'Nothing was uploaded yet. Send the bytes to the upload URL first.';
  return new DomainError('ATTACHMENT_NOT_READY', message, { retry_after: 1 });
}

function unreadable(cause: unknown): DomainError {
  return new DomainError('UNAVAILABLE', 'The file storage is temporarily unavailable. Try again.', {
    cause,
    retry_after: 5,
  });
}
