import { hash, verify } from '@node-rs/argon2';
import { DomainError } from '../../domain/errors.ts';
import { createConcurrencyLimiter } from '../../shared/concurrency-limiter.ts';

/** Characters that a password may have. */
export const passwordLength = { min: 10, max: 200 } as const;

const { min: minLength, max: maxLength } = passwordLength;
const minDistinctCharacters = 4;

/** argon2id with 19 MiB and two passes: some 20 ms, on another thread. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const costPrefix = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$`;

/**
 * How many are hashed at once in one process, and how many may wait for that: files are read and names looked up by the same few
 * threads, so a flood of sign-ins must not have them all.
 */
const maxConcurrent = 2;
const maxWaiting = 64;

/** The hash of nothing that anybody knows; to check against it takes as long as to check against a real one. */
const dummyHash = `${costPrefix}${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** Answers whether `password` is the one behind a hash. */
export type VerifyHash = (hash: string, password: string) => Promise<boolean>;

/**
 * What is wrong with a password that somebody chooses, in any case and spelling; undefined when nothing is.
 * @param username the name of who chooses it.
 */
export async function findPasswordFault(password: string, username?: string): Promise<string | undefined> {
  if (password.length < minLength || password.length > maxLength)
    return `has ${minLength} to ${maxLength} characters`;
  const plain = password.normalize('NFKC').toLowerCase();
  if (plain.trim() === username) return 'must not be the username';
  if (new Set(plain).size < minDistinctCharacters || (await loadCommonPasswords()).has(plain)) {
    return 'is one of those that are guessed first; choose another';
  }
  return undefined;
}

let commonPasswordsLoaded: Promise<ReadonlySet<string>> | undefined;

/** Some 1,500 of the most frequent passwords that are long enough. Read when first needed: few processes ever need them. */
function loadCommonPasswords(): Promise<ReadonlySet<string>> {
  commonPasswordsLoaded ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) =>
      new Set(dictionary['passwords-common'].filter((password) => password.length >= minLength)),
  );
  return commonPasswordsLoaded;
}

/**
 * Hashes a password that somebody chose. Call it before a transaction is open.
 * @param username the name of who chooses it.
 * @throws {DomainError} VALIDATION_ERROR when it has less than 10 or more than 200 characters, is the username, or one of the
 * most frequent.
 */
export async function hashPassword(password: string, username?: string): Promise<string> {
  const fault = await findPasswordFault(password, username);
  if (fault !== undefined) throw new DomainError('VALIDATION_ERROR', `A password ${fault}.`);
  return hashUnchecked(password);
}

/**
 * Hashes a password that is somebody's already, whatever is asked of a new one by now.
 * @throws {DomainError} UNAVAILABLE when too many are hashed just now.
 */
export function hashUnchecked(password: string): Promise<string> {
  return runLimited(() => hash(password.normalize('NFKC'), cost));
}

/**
 * Whether this is the password behind `stored`. Without a stored hash, and for what no password can be, it does the same work
 * and answers no.
 * @throws {DomainError} UNAVAILABLE when too many are hashed just now.
 */
export async function verifyPassword(
  stored: string | null,
  password: string,
  verifyHash: VerifyHash = verify,
): Promise<boolean> {
  const possible = stored !== null && password.length <= maxLength;
  const plain = password.slice(0, maxLength).normalize('NFKC');
  const right = await runLimited(() => verifyHash(possible ? stored : dummyHash, plain));
  return possible && right;
}

/** Whether a hash was made at another cost than hashes are made at now. */
export function needsRehash(stored: string): boolean {
  return !stored.startsWith(costPrefix);
}

const hashing = createConcurrencyLimiter({
  maxConcurrent,
  maxWaiting,
  createError: () =>
    new DomainError('UNAVAILABLE', 'Too many sign in just now; try again.', { retry_after: 2 }),
});

function runLimited<T>(work: () => Promise<T>): Promise<T> {
  return hashing.run('process', work);
}
