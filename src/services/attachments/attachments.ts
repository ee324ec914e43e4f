import {
  downloadLifetimeMs,
  scanJob,
  type StoredFile,
  unsentLifetimeMs,
} from '../../domain/attachments/attachments.ts';
import { DomainError } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { requireAttachment } from '../access.ts';

/**
 * Holds the actor to the files that it may keep here without sending them. Several at once may each find room for the last one.
 * @throws {DomainError} RATE_LIMITED, until the oldest of them counts no more.
 */
export async function requireUnsentQuota({ attachments, actor, unsentLimit, now }: Work): Promise<void> {
  if (!unsentLimit) return;
  const period = unsentLimit.seconds * 1_000;
  const { held, oldest } = await attachments.countUnsent(actor.agent_id, now - period);
  if (held < unsentLimit.points) return;
  const message = `You hold ${held} files that are not sent; send them in messages, or wait until they go away.`;
  const retry_after = Math.max(1, Math.ceil(((oldest ?? now) + period - now) / 1_000));
  throw new DomainError('RATE_LIMITED', message, { retry_after });
}

/**
 * A new attachment of the actor, whose bytes are stored already. It is scanned soon, and goes away after 24 hours unless it is sent.
 * @param id where one was promised before.
 */
export async function addAttachment(work: Work, file: StoredFile, id = newId('attachment')) {
  const created_at = work.now;
  const expires_at = created_at + unsentLifetimeMs;
  await work.attachments.insert({ ...file, id, uploader_id: work.actor.agent_id, created_at, expires_at });
  work.enqueue({ job: scanJob, subject_id: id });
  return { ...file, id, scan_status: 'pending' as const, scanned_by: null, created_at, expires_at };
}

/**
 * A signed address under which the content can be fetched for five minutes.
 * @returns the address and its end, in milliseconds.
 * @throws {DomainError} ATTACHMENT_NOT_FOUND; ATTACHMENT_NOT_READY before the scan, and when none was possible; ATTACHMENT_INFECTED
 */
export async function signDownloadUrl(work: Work, id: string) {
  const attachment = await requireAttachment(work, id);
  requireClean(attachment);
  const { storage_key: key, filename, content_type, size_bytes } = attachment;
  const expires_at = work.now + downloadLifetimeMs;
  const url = await work.addresses.download({ key, filename, content_type, size_bytes }, expires_at);
  return { url, expires_at };
}

function requireClean({ scan_status }: { scan_status: string }): void {
  if (scan_status === 'infected') {
    throw new DomainError('ATTACHMENT_INFECTED', 'This file is infected; its bytes are removed.');
  }
  if (scan_status === 'failed') {
    const message = 'This file could not be scanned, so its content is not served; ask for it again.';
    throw new DomainError('ATTACHMENT_NOT_READY', message, { retry_after: 3_600 });
  }
  if (scan_status === 'pending') {
    throw new DomainError('ATTACHMENT_NOT_READY', 'This file is not scanned yet; try again in a moment.', {
      retry_after: 1,
    });
  }
}

/**
 * What an agent needs to know of an attachment: its record, how its text begins, and where its content is.
 * @returns no preview and no address unless it is clean.
 * @throws {DomainError} ATTACHMENT_NOT_FOUND
 */
export async function readAttachment(work: Work, id: string) {
  const attachment = await requireAttachment(work, id);
  if (attachment.scan_status !== 'clean') return { attachment, preview: null, download: null };
  return { attachment, preview: attachment.preview, download: await signDownloadUrl(work, id) };
}
