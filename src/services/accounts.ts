import { hash } from '@node-rs/argon2';
import { DomainError } from '../domain/errors.ts';
import { newId } from '../domain/ids.ts';
import type { Administration } from '../unit-of-work.ts';
import { ownerName } from './owners.ts';

const fewest = 10;
const most = 200;

/**
 * Hashes a password with argon2id, 19 MiB and two passes (some 20 ms, on another thread). Call it before a transaction is open.
 * @throws {DomainError} VALIDATION_ERROR when it has less than 10 or more than 200 characters.
 */
export async function hashPassword(password: string): Promise<string> {
  if (password.length < fewest || password.length > most) {
    throw new DomainError('VALIDATION_ERROR', `A password has ${fewest} to ${most} characters.`);
  }
  return hash(password.normalize('NFKC'), { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
}

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
