import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { isId, newId } from '../../../packages/core/src/domain/ids.ts';
import {
  canonicalizeInvitationCode,
  newInvitationCode,
} from '../../../packages/core/src/domain/invitation-codes.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';
import { sha256 } from '../auth/token-records.ts';

/**
 * Creates an invitation.
 * @param input `uses`: how many people can sign up with it; `life_ms`: its lifetime.
 * @returns the invitation with its code. Only the hash is stored, so the code cannot be shown again.
 */
export async function createInvitation(work: SystemWork, input: { uses: number; life_ms: number }) {
  const code = newInvitationCode();
  const times = { created_at: work.now, expires_at: work.now + input.life_ms };
  const invitation = { id: newId('invitation'), uses: input.uses, ...times };
  await work.db.invitations.insert({ ...invitation, code_hash: sha256(canonicalizeInvitationCode(code)) });
  work.changes.audit({ act: 'invitation.created', about: invitation.id, detail: { uses: input.uses } });
  return { ...invitation, code };
}

/** Returns all invitations, oldest first, with the people who signed up. Times in milliseconds. */
export function listInvitations({ db: { invitations } }: ReadWork) {
  return invitations.list();
}

/**
 * Revokes an invitation. Accounts that were created with it stay.
 * @throws {DomainError} NOT_FOUND if it does not exist or was revoked before
 */
export async function revokeInvitation(work: SystemWork, id: string): Promise<void> {
  if (isId('invitation', id) && (await work.db.invitations.revoke(id, work.now))) {
    work.changes.audit({ act: 'invitation.revoked', about: id });
    return;
  }
  throw new DomainError('NOT_FOUND', `No active invitation has the id ${id.slice(0, 80)}.`);
}
