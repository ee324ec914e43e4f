import { fileAddressLifetimeMs } from '../../../packages/core/src/domain/a2a.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';
import { isExpired } from '../access.ts';
import { signFile } from '../attachments/attachments.ts';

const purpose = 'a2a file';

/**
 * Returns the address of a file of a message, valid for an hour unless a lifetime is given (milliseconds). It needs no token, and does not show the ID of the file. It exists before the
 * file is scanned; until then it returns ATTACHMENT_NOT_READY.
 */
export function toFileAddress(
  { settings, now }: Pick<ReadWork, 'settings' | 'now'>,
  id: string,
  lifetimeMs = fileAddressLifetimeMs,
): string {
  const text = JSON.stringify({ id, expires_at: now + lifetimeMs });
  return `${settings.publicUrl}/a2a/-/files/${settings.sealedBox.seal(text, purpose).toString('base64url')}`;
}

/**
 * Returns the download URL for the address of a file.
 * @param sealed the last segment of the address.
 * @throws {DomainError} NOT_FOUND (altered or expired, or the message was withdrawn), ATTACHMENT_NOT_READY, ATTACHMENT_INFECTED
 */
export async function readFileAddress(work: ReadWork, sealed: string): Promise<string> {
  const { db, settings, now } = work;
  const named = openAddress(settings, sealed);
  const file = named && named.expires_at > now ? await db.attachments.find(named.id) : undefined;
  if (!file || isExpired(file, now)) {
    const message = 'This address is invalid or has expired. Get the task again for a new one.';
    throw new DomainError('NOT_FOUND', message);
  }
  return signFile(work, file);
}

function openAddress(
  { sealedBox }: ReadWork['settings'],
  sealed: string,
): { id: string; expires_at: number } | undefined {
  try {
    return JSON.parse(sealedBox.open(Buffer.from(sealed, 'base64url'), purpose)) as {
      id: string;
      expires_at: number;
    };
  } catch {
    return undefined; // not sealed by this service
  }
}
