import { newId } from '../domain/ids.ts';
import type { Administration } from '../unit-of-work.ts';
import { ownerName, ownerNamed } from './owners.ts';

/**
 * Opens a person's account. Without a password hash nobody can sign in to it yet.
 * @throws {DomainError} VALIDATION_ERROR (the name), DUPLICATE_HANDLE
 */
export async function createAccount(
  work: Administration,
  input: { username: string; password_hash: string | null },
) {
  const account = { id: newId('account'), name: ownerName(input.username), created_at: work.now };
  await work.owners.insertAccount({ ...account, password_hash: input.password_hash });
  return { id: account.id, username: account.name, created_at: account.created_at };
}

/** Whether an account has a password; people who came from an external provider may have none. */
export async function hasPassword(
  { accounts }: Pick<Administration, 'accounts'>,
  account_id: string,
): Promise<boolean> {
  const account = await accounts.find(account_id);
  return (account?.password_hash ?? null) !== null;
}

/**
 * Sets a person's password on an operator's word, and ends every session of the person.
 * @param input the hash is made by hashPassword, before the transaction is open.
 * @returns how many sessions ended.
 * @throws {DomainError} NOT_FOUND, VALIDATION_ERROR (the name)
 */
export async function setPassword(
  work: Administration,
  input: { username: string; password_hash: string },
): Promise<{ username: string; sessions_ended: number }> {
  const { id, name } = await ownerNamed(work, input.username, 'account');
  await work.accounts.setPassword(id, input.password_hash);
  return { username: name, sessions_ended: await work.sessions.removeAllBut(id, null) };
}

/**
 * Ends every session of a person, on an operator's word.
 * @returns how many sessions ended.
 * @throws {DomainError} NOT_FOUND, VALIDATION_ERROR (the name)
 */
export async function signOutEverywhere(
  work: Administration,
  username: string,
): Promise<{ username: string; sessions_ended: number }> {
  const { id, name } = await ownerNamed(work, username, 'account');
  return { username: name, sessions_ended: await work.sessions.removeAllBut(id, null) };
}
