import { DomainError } from '../../domain/errors.ts';
import { isId, newId } from '../../domain/ids.ts';
import { canonicalizeInvitationCode, newInvitationCode } from '../../domain/invitation-codes.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import { sha256 } from '../auth/token-records.ts';

/**
 * Makes an invitation, with which so many people can sign up.
 * @param input `life_ms`: how long from now on.
 * @returns its code among the rest: the only time that it is shown, and only its hash is kept.
 */
export async function createInvitation(work: SystemWork, input: { uses: number; life_ms: number }) {
  const code = newInvitationCode();
  const times = { created_at: work.now, expires_at: work.now + input.life_ms };
  const invitation = { id: newId('invitation'), uses: input.uses, ...times };
  await work.invitations.insert({ ...invitation, code_hash: sha256(canonicalizeInvitationCode(code)) });
  work.audit({ act: 'invitation.created', about: invitation.id, detail: { uses: input.uses } });
  return { ...invitation, code };
}

/** Every invitation, oldest first, with who signed up with it. Times in milliseconds. */
export function listInvitations({ invitations }: Pick<SystemWork, 'invitations'>) {
  return invitations.list();
}

/**
 * Ends an invitation. Who signed up with it before stays.
 * @throws {DomainError} NOT_FOUND when there is no such invitation or it was revoked before.
 */
export async function revokeInvitation(work: SystemWork, id: string): Promise<void> {
  if (isId('invitation', id) && (await work.invitations.revoke(id, work.now))) {
    work.audit({ act: 'invitation.revoked', about: id });
    return;
  }
  throw new DomainError('NOT_FOUND', `No active invitation has the id ${id.slice(0, 80)}`);
}
