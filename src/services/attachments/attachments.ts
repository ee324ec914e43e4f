import {
  downloadLifetimeMs,
  scanJob,
  type StoredFile,
  unsentLifetimeMs,
} from '../../../packages/core/src/domain/attachments/attachments.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import type { AttachmentRow } from '../../repositories/attachments/attachments.ts';
import type { ReadWork, Work } from '../../work/unit-of-work.ts';
import { requireAttachment } from '../access.ts';

/**
 * Checks the actor's limit of unsent files. Concurrent uploads can exceed it by a few.
 * @throws {DomainError} RATE_LIMITED, with the time until the oldest file no longer counts
 */
export async function requireUnsentQuota({
  db: { attachments },
  settings: { limits },
  actor,
  now,
}: Work): Promise<void> {
  const limit = limits?.unsent_uploads;
  if (!limit) return;
  const periodMs = limit.seconds * 1_000;
  const { held, oldest } = await attachments.countUnsent(actor.agent_id, now - periodMs);
  if (held < limit.points) return;
  const message = `You have ${held} unsent files; send them in messages, or wait until they expire.`;
  const retry_after = Math.max(1, Math.ceil(((oldest ?? now) + periodMs - now) / 1_000));
  throw new DomainError('RATE_LIMITED', message, { retry_after });
}

/**
 * Adds an attachment of the actor whose bytes are stored already, and enqueues its scan. It expires after 24 hours unless it is sent.
 * @param id of the upload that it completes; default: a new one.
 */
export async function addAttachment(work: Work, file: StoredFile, id = newId('attachment')) {
  const created_at = work.now;
  const expires_at = created_at + unsentLifetimeMs;
  await work.db.attachments.insert({ ...file, id, uploader_id: work.actor.agent_id, created_at, expires_at });
  work.changes.enqueue({ job: scanJob, subject_id: id });
  return { ...file, id, scan_status: 'pending' as const, scanned_by: null, created_at, expires_at };
}

/**
 * Returns a signed URL of the content. It expires after five minutes.
 * @returns `expires_at` in milliseconds.
 * @throws {DomainError} ATTACHMENT_NOT_FOUND; ATTACHMENT_NOT_READY before the scan and if it failed; ATTACHMENT_INFECTED
 */
export async function signDownloadUrl(work: Work, id: string) {
  const attachment = await requireAttachment(work, id);
  return { url: await signFile(work, attachment), expires_at: work.now + downloadLifetimeMs };
}

/**
 * Returns a signed URL of a file that the caller may read. It expires after five minutes.
 * @throws {DomainError} ATTACHMENT_NOT_READY before the scan and if it failed; ATTACHMENT_INFECTED
 */
export function signFile(
  { settings, now }: Pick<ReadWork, 'settings' | 'now'>,
  { storage_key: key, filename, content_type, size_bytes, scan_status }: AttachmentRow,
): Promise<string> {
  requireClean({ scan_status });
  const expires_at = now + downloadLifetimeMs;
  return settings.addresses.download({ key, filename, content_type, size_bytes }, expires_at);
}

function requireClean({ scan_status }: { scan_status: string }): void {
  if (scan_status === 'infected') {
    throw new DomainError('ATTACHMENT_INFECTED', 'This file was found unsafe and was removed.');
  }
  if (scan_status === 'failed') {
    const message =
      'This file could not be scanned and cannot be downloaded; ask the sender to send it again.';
    throw new DomainError('ATTACHMENT_NOT_READY', message, { retry_after: 3_600 });
  }
  if (scan_status === 'pending') {
    throw new DomainError('ATTACHMENT_NOT_READY', 'This file is not scanned yet; retry in a moment.', {
      retry_after: 1,
    });
  }
}

/**
 * Returns an attachment with the beginning of its text and a download URL.
 * @returns no preview and no URL unless it is clean.
 * @throws {DomainError} ATTACHMENT_NOT_FOUND
 */
export async function readAttachment(work: Work, id: string) {
  const attachment = await requireAttachment(work, id);
  if (attachment.scan_status !== 'clean') return { attachment, preview: null, download: null };
  return { attachment, preview: attachment.preview, download: await signDownloadUrl(work, id) };
}
