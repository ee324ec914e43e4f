import { DomainError, wrongField } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { canonicalizeInvitationCode } from '../../domain/invitation-codes.ts';
import type { SystemWork, UnitOfWork } from '../../work/unit-of-work.ts';
import { sha256 } from '../auth/token-records.ts';

/** Who may sign up: everybody, who has an invitation, nobody. */
export type SignupMode = 'open' | 'invite' | 'closed';

/** @throws {DomainError} FORBIDDEN when nobody may sign up. */
export function requireSignupOpen(mode: SignupMode): void {
  if (mode === 'closed')
    throw new DomainError('FORBIDDEN', 'Nobody can sign up here; ask who runs this service for an account.');
}

export interface OpenAccount {
  /** As chosenOwnerName answers it. */
  username: string;
  password_hash: string | null;
  invitation?: string | undefined;
}

/**
 * Opens an account for whoever signs up, together with what `then` does with it: all of it, or nothing. A step of more than one
 * use case.
 * @throws {DomainError} VALIDATION_ERROR (invitation), DUPLICATE_HANDLE (username), and what `then` throws
 */
export async function openAccount(
  unitOfWork: Pick<UnitOfWork, 'writeAsSystem'>,
  { username, password_hash, invitation }: OpenAccount,
  mode: SignupMode,
  then?: (work: SystemWork, account_id: string) => Promise<void>,
): Promise<{ account_id: string }> {
  try {
    return await unitOfWork.writeAsSystem(async (work) => {
      // First, so that who has no invitation does not learn which names are taken.
      const invitation_id = mode === 'invite' ? await takeInvitation(work, invitation) : null;
      const id = newId('account');
      const account = { id, name: username, password_hash, invitation_id, created_at: work.now };
      await work.owners.insertAccount(account);
      work.audit({ act: 'account.opened', account_id: id, detail: { invitation_id } });
      await then?.(work, id);
      return { account_id: id };
    });
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'DUPLICATE_HANDLE') throw error;
    const message = 'is taken; choose another';
    throw new DomainError('DUPLICATE_HANDLE', `username: ${message}`, {
      details: [{ field: 'username', message }],
      cause: error,
    });
  }
}

async function takeInvitation({ invitations, now }: SystemWork, code = ''): Promise<string> {
  const canonical = canonicalizeInvitationCode(code);
  if (canonical === '') throw wrongField('invitation', 'is needed to sign up here');
  const id = await invitations.take(sha256(canonical), now);
  // One answer for a code that never was, is used up, expired or revoked.
  if (id === undefined) throw wrongField('invitation', 'is not valid, or no longer');
  return id;
}
