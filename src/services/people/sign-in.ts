import { authorFromPerson, system } from '../../../packages/core/src/domain/auth/audit.ts';
import { wrongField } from '../../../packages/core/src/domain/errors.ts';
import { isName } from '../../../packages/core/src/domain/agents/handles.ts';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import type { UnitOfWork } from '../../work/unit-of-work.ts';
import { openAccount, requireSignupOpen, type SignupMode } from './open-account.ts';
import { parseChosenOwnerName } from './owners.ts';
import {
  hashUnchecked,
  verifyPassword,
  needsRehash,
  findPasswordProblem,
  type VerifyHash,
} from './passwords.ts';

type Units = Pick<UnitOfWork, 'read' | 'write'>;

/**
 * Returns the account with this username (in any case) and password. Returns undefined for an unknown account, an account without a
 * password and a wrong password, after the same amount of work. A hash with an older cost is replaced.
 * @param verifyHash replaced in tests.
 */
export async function checkPassword(
  unitOfWork: Units,
  username: string,
  password: string,
  verifyHash?: VerifyHash,
): Promise<{ account_id: string } | undefined> {
  const name = username.trim().toLowerCase();
  // An invalid name costs a query too, so that the response time reveals nothing.
  const account = await unitOfWork.read(system, ({ db: { accounts } }) =>
    accounts.findByName(isName(name) ? name : ''),
  );
  const stored = account?.password_hash ?? null;
  const isCorrect = await verifyPassword(stored, password, verifyHash);
  if (!isCorrect || !account || stored === null) return undefined;
  if (needsRehash(stored)) {
    const rehashed = await hashUnchecked(password);
    await unitOfWork.read(system, ({ db: { accounts } }) =>
      accounts.replacePassword(account.id, stored, rehashed),
    );
  }
  return { account_id: account.id };
}

export interface SignUp {
  username: string;
  password: string;
  /** The code of an invitation; required in the mode `invite`. */
  invitation?: string | undefined;
}

/**
 * Creates an account. If two people use a single-use invitation at once, one of them succeeds.
 * @throws {DomainError} FORBIDDEN (sign-up is closed); VALIDATION_ERROR or DUPLICATE_HANDLE, with the wrong field in `details`:
 * username, password, invitation
 */
export async function signUp(
  unitOfWork: Units,
  { username: chosen, password, invitation }: SignUp,
  mode: SignupMode,
): Promise<{ account_id: string }> {
  requireSignupOpen(mode);
  const username = parseChosenOwnerName('username', chosen);
  const password_hash = await hashChosenPassword('password', password, username);
  return openAccount(unitOfWork, { username, password_hash, invitation }, mode);
}

/**
 * Changes the password of a person, and ends all other sessions. The current password is not needed if the account has none, as after
 * a sign-up through an external provider.
 * @throws {DomainError} VALIDATION_ERROR, with the wrong field in `details`: current, next
 */
export async function changePassword(
  unitOfWork: Units,
  { account_id, username, session_id }: Person,
  { current, next }: { current: string; next: string },
): Promise<void> {
  const account = await unitOfWork.read(system, ({ db: { accounts } }) => accounts.find(account_id));
  const stored = account?.password_hash ?? null;
  if (stored !== null && !(await verifyPassword(stored, current))) throw wrongPassword();
  const replacement = await hashChosenPassword('next', next, username);
  await unitOfWork.write(
    authorFromPerson({ account_id }),
    async ({ db: { accounts, sessions }, changes: { audit } }) => {
      // A concurrent change was faster; it also ends this session.
      if (!(await accounts.replacePassword(account_id, stored, replacement))) throw wrongPassword();
      await sessions.removeAllExcept(account_id, Buffer.from(session_id, 'base64url'));
      audit({ act: 'password.changed', account_id });
    },
  );
}

function wrongPassword(): Error {
  return wrongField('current', 'is wrong');
}

/** Hashes a chosen password. @throws {DomainError} VALIDATION_ERROR with the field */
async function hashChosenPassword(field: string, password: string, username: string): Promise<string> {
  const problem = await findPasswordProblem(password, username);
  if (problem !== undefined) throw wrongField(field, problem);
  return hashUnchecked(password);
}
