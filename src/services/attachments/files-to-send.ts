import { DomainError } from '../../domain/errors.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { isExpired } from '../access.ts';

/**
 * The uploads of the actor that its message carries, held until the unit of work ends, in the order asked for. They may wait for
 * their scan. A step of more than one use case.
 * @throws {DomainError} ATTACHMENT_NOT_FOUND (also when it is somebody else's), ATTACHMENT_ALREADY_SENT, ATTACHMENT_INFECTED,
 * ATTACHMENT_NOT_READY (no scanner could judge it)
 */
export async function lockFilesToSend(work: Work, ids: readonly string[]) {
  const own = await work.attachments.lockOwn(ids, work.actor.agent_id);
  const byId = new Map(own.map((file) => [file.id, file]));
  return ids.map((id) => {
    const file = byId.get(id);
    if (!file || isExpired(file, work.now)) throw refusal('ATTACHMENT_NOT_FOUND', id, 'No such attachment');
    if (file.message_id !== null) {
      throw refusal('ATTACHMENT_ALREADY_SENT', id, 'This attachment was sent before; upload the file again');
    }
    if (file.scan_status === 'infected') throw refusal('ATTACHMENT_INFECTED', id, 'This file is infected');
    if (file.scan_status === 'failed') {
      throw refusal('ATTACHMENT_NOT_READY', id, 'This file could not be scanned; upload it again');
    }
    return { ...file, expires_at: null };
  });
}

type Code =
  | 'ATTACHMENT_NOT_FOUND'
  | 'ATTACHMENT_ALREADY_SENT'
  | 'ATTACHMENT_INFECTED'
  | 'ATTACHMENT_NOT_READY';

function refusal(code: Code, id: string, why: string): DomainError {
  // Only what could pass by itself says when to come back.
  const options = code === 'ATTACHMENT_NOT_READY' ? { retry_after: 3_600 } : {};
  return new DomainError(code, `${why}: ${id.slice(0, 80)}`, options);
}
