import { authorFromPerson } from '../../domain/auth/audit.ts';
import { wrongField } from '../../domain/errors.ts';
import { isName } from '../../domain/agents/handles.ts';
import type { Person } from '../../domain/auth/actor.ts';
import type { UnitOfWork } from '../../work/unit-of-work.ts';
import { openAccount, requireSignupOpen, type SignupMode } from './open-account.ts';
import { parseChosenOwnerName } from './owners.ts';
import {
  hashUnchecked,
  verifyPassword,
  needsRehash,
  findPasswordFault,
  type VerifyHash,
} from './passwords.ts';

type Units = Pick<UnitOfWork, 'readAsSystem' | 'writeAsSystem'>;

/**
 * The account behind a username, in any case, and its password. Undefined for an unknown account, one without a password, and a
 * wrong password alike, after the same work. A hash that was made at an older cost is replaced.
 * @param verifyHash how a password is held against a hash.
 */
export async function checkPassword(
  unitOfWork: Units,
  username: string,
  password: string,
  verifyHash?: VerifyHash,
): Promise<{ account_id: string } | undefined> {
  const name = username.trim().toLowerCase();
  // What is no name belongs to nobody. It is looked up too, as one that is not there.
  const account = await unitOfWork.readAsSystem(({ accounts }) =>
    accounts.findByName(isName(name) ? name : ''),
  );
  const stored = account?.password_hash ?? null;
  const right = await verifyPassword(stored, password, verifyHash);
  if (!right || !account || stored === null) return undefined;
  if (needsRehash(stored)) {
    const fresh = await hashUnchecked(password);
    await unitOfWork.readAsSystem(({ accounts }) => accounts.replacePassword(account.id, stored, fresh));
  }
  return { account_id: account.id };
}

export interface SignUp {
  username: string;
  password: string;
  /** The code of an invitation; needed in the mode `invite`. */
  invitation?: string | undefined;
}

/**
 * Opens an account for whoever asks, as far as the mode allows. Of two who use a single-use invitation at once it serves one.
 * @throws {DomainError} FORBIDDEN (sign-up is closed); VALIDATION_ERROR or DUPLICATE_HANDLE, with the field at fault in `details`:
 * username, password, invitation.
 */
export async function signUp(
  unitOfWork: Units,
  { username: wanted, password, invitation }: SignUp,
  mode: SignupMode,
): Promise<{ account_id: string }> {
  requireSignupOpen(mode);
  const username = parseChosenOwnerName('username', wanted);
  const password_hash = await hashChosenPassword('password', password, username);
  return openAccount(unitOfWork, { username, password_hash, invitation }, mode);
}

/**
 * Gives a person another password, and ends every session of the person but the one that asks. Who has none yet, having come
 * from an external provider, need not name the current one.
 * @throws {DomainError} VALIDATION_ERROR, with the field at fault in `details`: current, next.
 */
export async function changePassword(
  unitOfWork: Units,
  { account_id, username, session_id }: Person,
  { current, next }: { current: string; next: string },
): Promise<void> {
  const account = await unitOfWork.readAsSystem(({ accounts }) => accounts.find(account_id));
  const stored = account?.password_hash ?? null;
  if (stored !== null && !(await verifyPassword(stored, current))) throw wrongPassword();
  const fresh = await hashChosenPassword('next', next, username);
  await unitOfWork.writeAsSystem(async ({ accounts, sessions, audit }) => {
    // Whoever was faster has ended this session too, or is about to.
    if (!(await accounts.replacePassword(account_id, stored, fresh))) throw wrongPassword();
    await sessions.removeAllExcept(account_id, Buffer.from(session_id, 'base64url'));
    audit({ act: 'password.changed', account_id });
  }, authorFromPerson({ account_id }));
}

function wrongPassword(): Error {
  return wrongField('current', 'is not your password');
}

/** The hash of a password that somebody chooses. @throws {DomainError} VALIDATION_ERROR, naming the field. */
async function hashChosenPassword(field: string, password: string, username: string): Promise<string> {
  const fault = await findPasswordFault(password, username);
  if (fault !== undefined) throw wrongField(field, fault);
  return hashUnchecked(password);
}
