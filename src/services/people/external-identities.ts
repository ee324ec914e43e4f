import { authorFromPerson, serviceAuthor } from '../../domain/auth/audit.ts';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { DomainError } from '../../domain/errors.ts';
import type { Person } from '../../domain/auth/actor.ts';
import type { SystemWork, UnitOfWork } from '../../work/unit-of-work.ts';
import { openAccount, requireSignupOpen, type SignupMode } from './open-account.ts';
import { parseChosenOwnerName } from './owners.ts';
import { sha256 } from '../auth/token-records.ts';

type Units = Pick<UnitOfWork, 'readAsSystem' | 'writeAsSystem'>;

/** What is sent to the provider is good for ten minutes, and a name must be chosen within half an hour. */
const externalSignInLifeMs = 600_000;
const usernameChoiceLifeMs = 1_800_000;

const sentStep = z.object({
  kind: z.literal('sent'),
  state: z.object({ issuer: z.string(), state: z.string(), nonce: z.string(), code_verifier: z.string() }),
  /** The account that is to be connected; null for a sign-in. */
  account_id: z.string().nullable(),
  to: z.string(),
});

const provenStep = z.object({
  kind: z.literal('proven'),
  identity: z.object({ issuer: z.string(), subject: z.string() }),
  suggested_username: z.string().nullable(),
  to: z.string(),
});

type SentStep = z.infer<typeof sentStep>;
type Identity = z.infer<typeof provenStep>['identity'];
export type ExternalFailure = 'declined' | 'away' | 'invalid';

/** The provider, as platform/openid.ts makes it. */
export interface ExternalProvider {
  start(): Promise<{ address: string; state: SentStep['state'] } | undefined>;
  finish(
    query: string,
    state: SentStep['state'],
  ): Promise<{ identity: Identity & { suggested_username: string | null } } | { failure: ExternalFailure }>;
}

/**
 * Begins a sign-in through the provider, or the connecting of an account with it.
 * @param wish `to`: where the person goes afterwards; `account_id`: what is to be connected, null for a sign-in.
 * @returns where to send the browser, and the token that it must bring back; undefined when the provider does not answer.
 */
export async function beginExternalSignIn(
  unitOfWork: Units,
  provider: ExternalProvider,
  wish: Pick<SentStep, 'to' | 'account_id'>,
): Promise<{ address: string; token: string } | undefined> {
  const started = await provider.start();
  if (!started) return undefined;
  const { address, state } = started;
  const step: SentStep = { kind: 'sent', state, ...wish };
  const token = await unitOfWork.readAsSystem((work) => saveStep(work, step, externalSignInLifeMs));
  return { address, token };
}

/** How a way back from the provider ended. */
export type ExternalOutcome =
  | { outcome: 'signed_in'; account_id: string; to: string }
  | { outcome: 'connected'; to: string }
  /** Nobody here is that yet: `token` names the choice of a username. */
  | { outcome: 'new'; token: string }
  | { outcome: 'failed'; reason: ExternalFailure | 'expired' | 'taken' | 'other_person' | 'closed' };

/**
 * Ends what beginExternal began, once: the same answer of the provider does nothing a second time.
 * @param back the token of this browser, the query that it came back with, and who is signed in in it.
 */
export async function finishExternalSignIn(
  unitOfWork: Units,
  provider: ExternalProvider,
  back: { token: string; query: string; person: Person | undefined },
  mode: SignupMode,
): Promise<ExternalOutcome> {
  const now = Date.now();
  const step = sentStep.safeParse(
    await unitOfWork.readAsSystem((work) => work.externalSignIns.take(sha256(back.token), now)),
  );
  if (!step.success) return failed('expired');
  const { state, account_id, to } = step.data;
  // Whoever signed in or out meanwhile is not who wished it.
  if (account_id !== null && back.person?.account_id !== account_id) return failed('other_person');
  const answer = await provider.finish(back.query, state);
  if ('failure' in answer) return failed(answer.failure);
  const { suggested_username, ...identity } = answer.identity;
  return unitOfWork.writeAsSystem(
    async (work) => {
      if (account_id !== null) return connectIdentity(work, account_id, identity, to);
      const known = await work.accountIdentities.find(identity.issuer, identity.subject);
      if (known) return { outcome: 'signed_in', account_id: known.account_id, to };
      if (mode === 'closed') return failed('closed');
      const choice = { kind: 'proven', identity, suggested_username, to };
      return { outcome: 'new', token: await saveStep(work, choice, usernameChoiceLifeMs) };
    },
    account_id === null ? serviceAuthor : authorFromPerson({ account_id }),
  );
}

function failed(reason: Extract<ExternalOutcome, { outcome: 'failed' }>['reason']): ExternalOutcome {
  return { outcome: 'failed', reason };
}

async function connectIdentity(
  work: SystemWork,
  account_id: string,
  identity: Identity,
  to: string,
): Promise<ExternalOutcome> {
  const fresh = await work.accountIdentities.insert({ ...identity, account_id, created_at: work.now });
  const holder = fresh || (await work.accountIdentities.find(identity.issuer, identity.subject));
  if (fresh) work.audit({ act: 'identity.connected', account_id, about: identity.issuer });
  const mine = holder === true || (holder && holder.account_id === account_id);
  return mine ? { outcome: 'connected', to } : failed('taken');
}

async function saveStep(
  { externalSignIns }: Pick<SystemWork, 'externalSignIns'>,
  step: object,
  life: number,
): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await externalSignIns.insert(sha256(token), step, Date.now() + life);
  return token;
}

/** What the provider suggests to who still chooses a username; undefined when nobody does with this token, or no longer. */
export async function readSuggestedUsername(
  unitOfWork: Units,
  token: string,
): Promise<{ suggested_username: string | null } | undefined> {
  const now = Date.now();
  const step = await unitOfWork.readAsSystem((work) => work.externalSignIns.find(sha256(token), now));
  return provenStep.safeParse(step).data;
}

/**
 * Opens the account of somebody who came from the provider and has chosen a username, as far as the mode allows.
 * @returns undefined when nobody chooses with this token, or no longer.
 * @throws {DomainError} FORBIDDEN (sign-up is closed); VALIDATION_ERROR or DUPLICATE_HANDLE, with the field at fault in `details`:
 * username, invitation.
 */
export async function signUpExternal(
  unitOfWork: Units,
  token: string,
  input: { username: string; invitation?: string | undefined },
  mode: SignupMode,
): Promise<{ account_id: string; to: string } | undefined> {
  requireSignupOpen(mode);
  const now = Date.now();
  const step = provenStep.safeParse(
    await unitOfWork.readAsSystem((work) => work.externalSignIns.find(sha256(token), now)),
  );
  if (!step.success) return undefined;
  const { identity, to } = step.data;
  const username = parseChosenOwnerName('username', input.username);
  const account = { username, password_hash: null, invitation: input.invitation };
  const opened = await openAccount(unitOfWork, account, mode, async (work, account_id) => {
    await work.externalSignIns.take(sha256(token), work.now);
    const created_at = work.now;
    if (await work.accountIdentities.insert({ ...identity, account_id, created_at })) return;
    // The same person, in another window.
    throw new DomainError('INVALID_TRANSITION', 'This sign-up was finished already. Sign in again.');
  });
  return { ...opened, to };
}

/** Who an account is at external providers, oldest first. Times in milliseconds. */
export function listIdentities(
  { accountIdentities }: Pick<SystemWork, 'accountIdentities'>,
  account_id: string,
) {
  return accountIdentities.list(account_id);
}

/**
 * Ends a connection of an account with an external provider, unless nobody could sign in to the account any more.
 * @throws {DomainError} NOT_FOUND, INVALID_TRANSITION (the only way to sign in)
 */
export async function disconnectIdentity(
  { accounts, accountIdentities, audit }: SystemWork,
  account_id: string,
  { issuer, subject }: Identity,
): Promise<void> {
  const account = await accounts.lock(account_id);
  const identities = await accountIdentities.list(account_id);
  // Looked for here: what was sent need not be text that the database takes.
  const mine = identities.some((one) => one.issuer === issuer && one.subject === subject);
  if (!mine) throw new DomainError('NOT_FOUND', 'Your account is not connected with that.');
  if (account?.password_hash === null && identities.length < 2) {
    throw new DomainError('INVALID_TRANSITION', 'It is your only way to sign in: set a password first.');
  }
  await accountIdentities.remove(account_id, issuer, subject);
  audit({ act: 'identity.disconnected', account_id, about: issuer });
}
