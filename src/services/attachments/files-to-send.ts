import type { AttachmentRow } from '../../repositories/attachments/attachments.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { isExpired } from '../access.ts';

/** Files by id. */
export type LockedFiles = ReadonlyMap<string, AttachmentRow>;

/**
 * Locks uploads until the unit of work ends; those that do not exist or belong to another agent are left out.
 * @param options.wait whether to wait for files that another transaction has locked; otherwise they are left out too.
 */
export async function lockFiles(
  work: Work,
  files: readonly { id: string; uploader_id: string }[],
  options: { wait: boolean },
): Promise<LockedFiles> {
  if (files.length === 0) return new Map();
  const locked = await work.db.attachments.lockOwn(files, options);
  return new Map(locked.map((file) => [file.id, file]));
}

/**
 * The uploads of the actor that its message sends, in the order of `ids`. They may still wait for their scan.
 * @throws {DomainError} ATTACHMENT_NOT_FOUND (also for another agent's), ATTACHMENT_ALREADY_SENT, ATTACHMENT_INFECTED,
 * ATTACHMENT_NOT_READY (it could not be scanned)
 */
export function requireSendableFiles(
  { actor, now }: Pick<Work, 'actor' | 'now'>,
  locked: LockedFiles,
  ids: readonly string[],
): AttachmentRow[] {
  return ids.map((id) => {
    const file = locked.get(id);
    if (file?.uploader_id !== actor.agent_id || isExpired(file, now)) {
      throw fileError('ATTACHMENT_NOT_FOUND', id, 'No such attachment');
    }
    if (file.message_id !== null) {
      throw fileError(
        'ATTACHMENT_ALREADY_SENT',
        id,
        'This attachment was already sent; upload the file again',
      );
    }
    if (file.scan_status === 'infected')
      throw fileError('ATTACHMENT_INFECTED', id, 'This file was found unsafe and was removed');
    if (file.scan_status === 'failed') {
      throw fileError('ATTACHMENT_NOT_READY', id, 'This file could not be scanned; upload it again');
    }
    return file;
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
