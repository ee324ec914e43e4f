import { randomBytes } from 'node:crypto';
import {
  attachmentTooLarge,
  maxAttachmentBytes,
  type StoredFile,
  uploadLifetimeMs,
} from '../../../packages/core/src/domain/attachments/attachments.ts';
import { wrongField } from '../../../packages/core/src/domain/errors.ts';
import { toSafeFileName } from '../../../packages/core/src/domain/attachments/file-names.ts';
import {
  normalizeMediaType,
  requireAcceptedDeclaration,
} from '../../../packages/core/src/domain/attachments/file-types.ts';
import { isId, newId } from '../../../packages/core/src/domain/ids.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { requireAttachment, attachmentNotFound } from '../access.ts';
import { addAttachment, requireUnsentQuota } from './attachments.ts';

export interface RequestUpload {
  filename: string;
  content_type: string;
  /** Bytes. */
  size: number;
  /** Lower-case hexadecimal. */
  sha256?: string | undefined;
}

/**
 * Begins a direct upload to the blob store. The URL expires after 15 minutes.
 * @throws {DomainError} UNSUPPORTED_MEDIA_TYPE, ATTACHMENT_TOO_LARGE, RATE_LIMITED (too many unsent files)
 */
export async function requestUpload(work: Work, { filename, size, sha256, ...input }: RequestUpload) {
  const content_type = normalizeMediaType(input.content_type);
  requireAcceptedDeclaration(work.settings.attachmentTypes, content_type);
  if (size > maxAttachmentBytes) throw attachmentTooLarge();
  await requireUnsentQuota(work);
  const upload = {
    id: newId('attachment'),
    uploader_id: work.actor.agent_id,
    storage_key: randomBytes(16).toString('hex'),
    filename: toSafeFileName(filename),
    content_type,
    size_bytes: size,
    sha256: sha256 ?? null,
    created_at: work.now,
    expires_at: work.now + uploadLifetimeMs,
  };
  await work.db.uploads.insert(upload);
  const target = { key: upload.storage_key, agent_id: upload.uploader_id, content_type, size_bytes: size };
  return { upload, address: await work.settings.addresses.upload(target, upload.expires_at) };
}

/**
 * Returns the upload to complete; null if it is complete already.
 * @throws {DomainError} ATTACHMENT_NOT_FOUND
 */
export async function findUploadToComplete(work: Work, id: string) {
  const upload = isId('attachment', id) ? await work.db.uploads.find(id, work.actor.agent_id) : undefined;
  if (upload && upload.expires_at > work.now) return upload;
  await requireOwnAttachment(work, id);
  return null;
}

/**
 * Adds the attachment of an upload if the received bytes match the announced size and digest.
 * @param file the bytes under a key that no upload URL can overwrite; null if the upload is complete already.
 * @throws {DomainError} ATTACHMENT_NOT_FOUND, VALIDATION_ERROR (another size or digest)
 */
export async function completeUpload(work: Work, id: string, file: StoredFile | null) {
  const upload = file && (await work.db.uploads.find(id, work.actor.agent_id));
  if (!file || !upload) return requireOwnAttachment(work, id);
  if (file.size_bytes !== upload.size_bytes) {
    throw wrongField('size', `expected ${upload.size_bytes} bytes, received ${file.size_bytes}`);
  }
  if (upload.sha256 !== null && file.sha256 !== upload.sha256) {
    throw wrongField('sha256', `expected ${upload.sha256}, received ${file.sha256}`);
  }
  // A concurrent call may have completed it.
  if (!(await work.db.uploads.remove(id))) return requireOwnAttachment(work, id);
  return addAttachment(work, file, id);
}

async function requireOwnAttachment(work: Work, id: string) {
  const attachment = await requireAttachment(work, id);
  if (attachment.uploader_id !== work.actor.agent_id) throw attachmentNotFound();
  return attachment;
}
