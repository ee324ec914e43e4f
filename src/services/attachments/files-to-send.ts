import { DomainError } from '../../domain/errors.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { isExpired } from '../access.ts';

/**
 * Locks the actor's uploads that a message attaches, until the transaction ends; returns them in the given order. They need not be
 * scanned yet.
 * @throws {DomainError} ATTACHMENT_NOT_FOUND (also for another agent's), ATTACHMENT_ALREADY_SENT, ATTACHMENT_INFECTED,
 * ATTACHMENT_NOT_READY (the scan failed)
 */
export async function lockFilesToSend(work: Work, ids: readonly string[]) {
  const own = await work.attachments.lockOwn(ids, work.actor.agent_id);
  const byId = new Map(own.map((file) => [file.id, file]));
  return ids.map((id) => {
    const file = byId.get(id);
    if (!file || isExpired(file, work.now)) throw fileError('ATTACHMENT_NOT_FOUND', id, 'No such attachment');
    if (file.message_id !== null) {
      throw fileError(
        'ATTACHMENT_ALREADY_SENT',
        id,
        'This attachment was already sent; upload the file again',
      );
    }
    if (file.scan_status === 'infected')
      throw fileError('ATTACHMENT_INFECTED', id, 'This file contains malware');
    if (file.scan_status === 'failed') {
      throw fileError('ATTACHMENT_NOT_READY', id, 'This file could not be scanned; upload it again');
    }
    return { ...file, expires_at: null };
  });
}

type Code =
  | 'ATTACHMENT_NOT_FOUND'
  | 'ATTACHMENT_ALREADY_SENT'
  | 'ATTACHMENT_INFECTED'
  | 'ATTACHMENT_NOT_READY';

function fileError(code: Code, id: string, why: string): DomainError {
  // The other errors are permanent.
  const options = code === 'ATTACHMENT_NOT_READY' ? { retry_after: 3_600 } : {};
  return new DomainError(code, `${why}: ${id.slice(0, 80)}`, options);
}
