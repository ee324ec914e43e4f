import { randomBytes } from 'node:crypto';
import { largestAttachment, type StoredFile, uploadLife } from '../domain/attachments.ts';
import { DomainError, wrongField } from '../domain/errors.ts';
import { safeFileName } from '../domain/file-names.ts';
import { fileTypes, plainType } from '../domain/file-types.ts';
import { isId, newId } from '../domain/ids.ts';
import type { Work } from '../unit-of-work.ts';
import { attachmentFor, noSuchAttachment } from './access.ts';
import { addAttachment, requireRoom } from './attachments.ts';

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
  const content_type = plainType(given.content_type);
  if (!fileTypes.has(content_type)) {
    const message = `Files of this type are not taken; take one of ${[...fileTypes].join(', ')}.`;
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', message);
  }
  if (size > largestAttachment) throw tooLarge();
  await requireRoom(work);
  const upload = {
    id: newId('attachment'),
    uploader_id: work.actor.agent_id,
    storage_key: randomBytes(16).toString('hex'),
    filename: safeFileName(filename),
    content_type,
    size_bytes: size,
    sha256: sha256 ?? null,
    created_at: work.now,
    expires_at: work.now + uploadLife,
  };
  await work.uploads.insert(upload);
  const place = { key: upload.storage_key, content_type, size_bytes: size };
  return { upload, address: await work.addresses.upload(place, upload.expires_at) };
}

/**
 * The upload that is to be completed; null when it is already.
 * @throws {DomainError} ATTACHMENT_NOT_FOUND
 */
export async function uploadToComplete(work: Work, id: string) {
  const upload = isId('attachment', id) ? await work.uploads.find(id, work.actor.agent_id) : undefined;
  if (upload && upload.expires_at > work.now) return upload;
  await ownAttachment(work, id);
  return null;
}

/**
 * Makes an attachment of what was brought, once it is what was promised.
 * @param file the bytes, at a place of their own that no address leads to; null when it is complete already.
 * @throws {DomainError} ATTACHMENT_NOT_FOUND, VALIDATION_ERROR (another size or digest)
 */
export async function completeUpload(work: Work, id: string, file: StoredFile | null) {
  const upload = file && (await work.uploads.find(id, work.actor.agent_id));
  if (!file || !upload) return ownAttachment(work, id);
  if (file.size_bytes !== upload.size_bytes) {
    throw wrongField('size', `${file.size_bytes} bytes were brought, not ${upload.size_bytes}`);
  }
  if (upload.sha256 !== null && file.sha256 !== upload.sha256) {
    throw wrongField('sha256', `is ${file.sha256} for what was brought`);
  }
  // Another completion may have been faster.
  if (!(await work.uploads.remove(id))) return ownAttachment(work, id);
  return addAttachment(work, file, id);
}

/** The refusal for a file over 10 MiB. */
export function tooLarge(): DomainError {
  return new DomainError('ATTACHMENT_TOO_LARGE', 'A file may have at most 10 MiB (10,485,760 bytes).');
}

async function ownAttachment(work: Work, id: string) {
  const attachment = await attachmentFor(work, id);
  if (attachment.uploader_id !== work.actor.agent_id) throw noSuchAttachment();
  return attachment;
}
