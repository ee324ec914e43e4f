import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { canonicalizeInvitationCode } from '../../../packages/core/src/domain/invitation-codes.ts';
import type { SystemWork, UnitOfWork } from '../../work/unit-of-work.ts';
import { sha256 } from '../auth/token-records.ts';

/** Sign-up is for everyone, for people with an invitation, or disabled. */
export type SignupMode = 'open' | 'invite' | 'closed';

/** @throws {DomainError} FORBIDDEN if sign-up is closed */
export function requireSignupOpen(mode: SignupMode): void {
  if (mode === 'closed')
    throw new DomainError('FORBIDDEN', 'Sign-up is closed; ask the operator of this service for an account.');
}

export interface OpenAccount {
  /** As returned by parseChosenOwnerName. */
  username: string;
  password_hash: string | null;
  invitation?: string | undefined;
}

/**
 * Creates the account of a person who signs up, and runs `then` in the same transaction.
 * @throws {DomainError} VALIDATION_ERROR (invitation), DUPLICATE_HANDLE (username), and what `then` throws
 */
export async function openAccount(
  unitOfWork: Pick<UnitOfWork, 'write'>,
  { username, password_hash, invitation }: OpenAccount,
  mode: SignupMode,
  then?: (work: SystemWork, account_id: string) => Promise<void>,
): Promise<{ account_id: string }> {
  try {
    return await unitOfWork.write(system, async (work) => {
      // First, so that people without an invitation cannot learn which names are taken.
      const invitation_id = mode === 'invite' ? await takeInvitation(work, invitation) : null;
      const id = newId('account');
      const account = { id, name: username, password_hash, invitation_id, created_at: work.now };
      await work.db.owners.insertAccount(account);
      work.changes.audit({ act: 'account.opened', account_id: id, detail: { invitation_id } });
      await then?.(work, id);
      return { account_id: id };
    });
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'DUPLICATE_HANDLE') throw error;
    const message = 'is taken; choose another one';
    throw new DomainError('DUPLICATE_HANDLE', `username: ${message}`, {
      details: [{ field: 'username', message }],
      cause: error,
    });
  }
}

async function takeInvitation({ db: { invitations }, now }: SystemWork, code = ''): Promise<string> {
  const canonical = canonicalizeInvitationCode(code);
  if (canonical === '') throw wrongField('invitation', 'is required to sign up');
  const id = await invitations.take(sha256(canonical), now);
  // The same error for an unknown, used, expired or revoked code.
  if (id === undefined) throw wrongField('invitation', 'is invalid or has expired');
  return id;
}
