import { randomBytes } from 'node:crypto';
import {
  maxAttachmentBytes,
  type StoredFile,
  uploadLifetimeMs,
} from '../../domain/attachments/attachments.ts';
import { DomainError, wrongField } from '../../domain/errors.ts';
import { toSafeFileName } from '../../domain/attachments/file-names.ts';
import { fileTypes, normalizeMediaType } from '../../domain/attachments/file-types.ts';
import { isId, newId } from '../../domain/ids.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { requireAttachment, attachmentNotFound } from '../access.ts';
import { addAttachment, requireUnsentQuota } from './attachments.ts';

export interface RequestUpload {
  filename: string;
  content_type: string;
  /** In bytes. */
  size: number;
  /** In lower-case hexadecimal digits. */
  sha256?: string | undefined;
}

/**
 * Promises an attachment whose bytes go straight to the store, to an address that is good for 15 minutes.
 * @throws {DomainError} UNSUPPORTED_MEDIA_TYPE, ATTACHMENT_TOO_LARGE, RATE_LIMITED (too many are not sent)
 */
export async function requestUpload(work: Work, { filename, size, sha256, ...given }: RequestUpload) {
  const content_type = normalizeMediaType(given.content_type);
  if (!fileTypes.has(content_type)) {
    const message = `Files of this type are not taken; take one of ${[...fileTypes].join(', ')}.`;
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', message);
  }
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
  await work.uploads.insert(upload);
  const place = { key: upload.storage_key, content_type, size_bytes: size };
  return { upload, address: await work.addresses.upload(place, upload.expires_at) };
}

/**
 * The upload that is to be completed; null when it is already.
 * @throws {DomainError} ATTACHMENT_NOT_FOUND
 */
export async function findUploadToComplete(work: Work, id: string) {
  const upload = isId('attachment', id) ? await work.uploads.find(id, work.actor.agent_id) : undefined;
  if (upload && upload.expires_at > work.now) return upload;
  await requireOwnAttachment(work, id);
  return null;
}

/**
 * Makes an attachment of what was brought, once it is what was promised.
 * @param file the bytes, at a place of their own that no address leads to; null when it is complete already.
 * @throws {DomainError} ATTACHMENT_NOT_FOUND, VALIDATION_ERROR (another size or digest)
 */
export async function completeUpload(work: Work, id: string, file: StoredFile | null) {
  const upload = file && (await work.uploads.find(id, work.actor.agent_id));
  if (!file || !upload) return requireOwnAttachment(work, id);
  if (file.size_bytes !== upload.size_bytes) {
    throw wrongField('size', `${file.size_bytes} bytes were brought, not ${upload.size_bytes}`);
  }
  if (upload.sha256 !== null && file.sha256 !== upload.sha256) {
    throw wrongField('sha256', `is ${file.sha256} for what was brought`);
  }
  // Another completion may have been faster.
  if (!(await work.uploads.remove(id))) return requireOwnAttachment(work, id);
  return addAttachment(work, file, id);
}

/** The refusal for a file over 10 MiB. */
export function attachmentTooLarge(): DomainError {
  return new DomainError('ATTACHMENT_TOO_LARGE', 'A file may have at most 10 MiB (10,485,760 bytes).');
}

async function requireOwnAttachment(work: Work, id: string) {
  const attachment = await requireAttachment(work, id);
  if (attachment.uploader_id !== work.actor.agent_id) throw attachmentNotFound();
  return attachment;
}
