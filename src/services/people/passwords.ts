import { hash, verify } from '@node-rs/argon2';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { createConcurrencyLimiter } from '../../shared/concurrency-limiter.ts';

/** Allowed length of a password, in characters. */
export const passwordLength = { min: 10, max: 200 } as const;

const { min: minLength, max: maxLength } = passwordLength;
const minDistinctCharacters = 4;

/** argon2id with 19 MiB and two passes takes about 20 ms on a thread of the pool. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const costPrefix = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$`;

/**
 * Maximum number of concurrent hashes in one process, and of calls that wait. File reads and DNS look-ups use the same thread pool, so
 * a flood of sign-ins must not occupy it.
 */
const maxConcurrent = 2;
const maxWaiting = 64;

/** The hash of no known password. Checking against it takes as long as checking against a real one. */
const dummyHash = `${costPrefix}${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** Returns whether a password matches a hash. */
export type VerifyHash = (hash: string, password: string) => Promise<boolean>;

/**
 * Returns what is wrong with a chosen password, ignoring case and Unicode form; undefined if it is acceptable.
 * @param username of the person who chooses it.
 */
export async function findPasswordProblem(password: string, username?: string): Promise<string | undefined> {
  if (password.length < minLength || password.length > maxLength)
    return `must have ${minLength} to ${maxLength} characters`;
  const plain = password.normalize('NFKC').toLowerCase();
  if (plain.trim() === username) return 'must not be the username';
  if (new Set(plain).size < minDistinctCharacters || (await loadCommonPasswords()).has(plain)) {
    return 'is too easy to guess; choose another one';
  }
  return undefined;
}

let commonPasswordsLoaded: Promise<ReadonlySet<string>> | undefined;

/** Loads about 1,500 frequent passwords of sufficient length. Lazy, because few processes need them. */
function loadCommonPasswords(): Promise<ReadonlySet<string>> {
  commonPasswordsLoaded ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) =>
      new Set(dictionary['passwords-common'].filter((password) => password.length >= minLength)),
  );
  return commonPasswordsLoaded;
}

/**
 * Hashes a chosen password. Call it before a transaction begins.
 * @param username of the person who chooses it.
 * @throws {DomainError} VALIDATION_ERROR if it is too short, too long, the username, or a frequent password
 */
export async function hashPassword(password: string, username?: string): Promise<string> {
  const problem = await findPasswordProblem(password, username);
  if (problem !== undefined) throw new DomainError('VALIDATION_ERROR', `The password ${problem}.`);
  return hashUnchecked(password);
}

/**
 * Hashes a password without checking its strength.
 * @throws {DomainError} UNAVAILABLE if too many calls wait
 */
export function hashUnchecked(password: string): Promise<string> {
  return runLimited(() => hash(password.normalize('NFKC'), cost));
}

/**
 * Returns whether a password matches a stored hash. Without a hash, and for an impossible password, it does the same work and returns
 * false.
 * @throws {DomainError} UNAVAILABLE if too many calls wait
 */
export async function verifyPassword(
  stored: string | null,
  password: string,
  verifyHash: VerifyHash = verify,
): Promise<boolean> {
  const isPossible = stored !== null && password.length <= maxLength;
  const plain = password.slice(0, maxLength).normalize('NFKC');
  const matches = await runLimited(() => verifyHash(isPossible ? stored : dummyHash, plain));
  return isPossible && matches;
}

/** Whether a hash was made with another cost than the current one. */
export function needsRehash(stored: string): boolean {
  return !stored.startsWith(costPrefix);
}

const hashing = createConcurrencyLimiter({
  maxConcurrent,
  maxWaiting,
  createError: () =>
    new DomainError('UNAVAILABLE', 'Too many people are signing in at the moment. Try again.', {
      retry_after: 2,
    }),
});

function runLimited<T>(work: () => Promise<T>): Promise<T> {
  return hashing.run('process', work);
}
