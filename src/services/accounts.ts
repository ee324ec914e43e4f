import { newId } from '../domain/ids.ts';
import type { Administration } from '../unit-of-work.ts';
import { ownerName } from './owners.ts';

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
