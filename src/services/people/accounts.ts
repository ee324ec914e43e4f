import { newId } from '../../../packages/core/src/domain/ids.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';
import { parseOwnerName } from './owners.ts';

/**
 * Creates a person's account. Without a password hash, sign-in is not possible yet.
 * @throws {DomainError} VALIDATION_ERROR (the name), DUPLICATE_HANDLE
 */
export async function createAccount(
  work: SystemWork,
  input: { username: string; password_hash: string | null },
) {
  const account = { id: newId('account'), name: parseOwnerName(input.username), created_at: work.now };
  await work.db.owners.insertAccount({ ...account, password_hash: input.password_hash });
  work.changes.audit({ act: 'account.opened', account_id: account.id });
  return { id: account.id, username: account.name, created_at: account.created_at };
}

/** An account, as its page shows it. */
export interface ShownAccount {
  display_name: string | null;
  /** False for people who sign in through an external provider only. */
  has_password: boolean;
}

/** Returns what the account page shows. */
export async function readAccount({ db: { accounts } }: ReadWork, account_id: string): Promise<ShownAccount> {
  const account = await accounts.find(account_id);
  return {
    display_name: account?.display_name ?? null,
    has_password: (account?.password_hash ?? null) !== null,
  };
}

/** Sets the password of an account for an operator. Call hashPassword before the transaction begins. */
export async function setPassword(
  { db: { accounts }, changes: { audit } }: SystemWork,
  account_id: string,
  password_hash: string,
): Promise<void> {
  await accounts.setPassword(account_id, password_hash);
  audit({ act: 'password.changed', account_id });
}
