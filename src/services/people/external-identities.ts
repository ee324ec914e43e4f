import { authorFromPerson, system } from '../../../packages/core/src/domain/auth/audit.ts';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import type { ReadWork, SystemWork, UnitOfWork } from '../../work/unit-of-work.ts';
import { openAccount, requireSignupOpen, type SignupMode } from './open-account.ts';
import { parseChosenOwnerName } from './owners.ts';
import { sha256 } from '../auth/token-records.ts';

type Units = Pick<UnitOfWork, 'read' | 'write'>;

const externalSignInLifeMs = 600_000;
const usernameChoiceLifeMs = 1_800_000;

const sentStep = z.object({
  kind: z.literal('sent'),
  state: z.object({ issuer: z.string(), state: z.string(), nonce: z.string(), code_verifier: z.string() }),
  /** The account to connect; null for a sign-in. */
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
export type ExternalFailure = 'declined' | 'unavailable' | 'invalid';

/** An OpenID provider, as platform/outbound/openid.ts creates it. */
export interface ExternalProvider {
  start(): Promise<{ address: string; state: SentStep['state'] } | undefined>;
  finish(
    query: string,
    state: SentStep['state'],
  ): Promise<{ identity: Identity & { suggested_username: string | null } } | { failure: ExternalFailure }>;
}

/**
 * Begins a sign-in through the provider, or connects an account with it.
 * @param target `to`: the page to open afterwards; `account_id`: the account to connect, null for a sign-in.
 * @returns where to redirect the browser, and the token that it must bring back; undefined if the provider does not respond.
 */
export async function beginExternalSignIn(
  unitOfWork: Units,
  provider: ExternalProvider,
  target: Pick<SentStep, 'to' | 'account_id'>,
): Promise<{ address: string; token: string } | undefined> {
  const started = await provider.start();
  if (!started) return undefined;
  const { address, state } = started;
  const step: SentStep = { kind: 'sent', state, ...target };
  const token = await unitOfWork.read(system, (work) => saveStep(work, step, externalSignInLifeMs));
  return { address, token };
}

/** The result of a redirect back from the provider. */
export type ExternalOutcome =
  | { outcome: 'signed_in'; account_id: string; to: string }
  | { outcome: 'connected'; to: string }
  /** No account has this identity yet; `token` identifies the sign-up that continues with the choice of a username. */
  | { outcome: 'new'; token: string }
  | { outcome: 'failed'; reason: ExternalFailure | 'expired' | 'taken' | 'other_person' | 'closed' };

/**
 * Finishes a sign-in or connection. A response of the provider works once.
 * @param back the token of this browser, the query of the redirect, and the person who is signed in.
 */
export async function finishExternalSignIn(
  unitOfWork: Units,
  provider: ExternalProvider,
  back: { token: string; query: string; person: Person | undefined },
  mode: SignupMode,
): Promise<ExternalOutcome> {
  const now = Date.now();
  const step = sentStep.safeParse(
    await unitOfWork.read(system, (work) => work.db.externalSignIns.take(sha256(back.token), now)),
  );
  if (!step.success) return failed('expired');
  const { state, account_id, to } = step.data;
  // Another person signed in meanwhile, or the person signed out.
  if (account_id !== null && back.person?.account_id !== account_id) return failed('other_person');
  const result = await provider.finish(back.query, state);
  if ('failure' in result) return failed(result.failure);
  const { suggested_username, ...identity } = result.identity;
  return unitOfWork.write(account_id === null ? system : authorFromPerson({ account_id }), async (work) => {
    if (account_id !== null) return connectIdentity(work, account_id, identity, to);
    const owner = await work.db.accountIdentities.find(identity.issuer, identity.subject);
    if (owner) return { outcome: 'signed_in', account_id: owner.account_id, to };
    if (mode === 'closed') return failed('closed');
    const next = { kind: 'proven', identity, suggested_username, to };
    return { outcome: 'new', token: await saveStep(work, next, usernameChoiceLifeMs) };
  });
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
  if (await work.db.accountIdentities.insert({ ...identity, account_id, created_at: work.now })) {
    work.changes.audit({ act: 'identity.connected', account_id, about: identity.issuer });
    return { outcome: 'connected', to };
  }
  const owner = await work.db.accountIdentities.find(identity.issuer, identity.subject);
  return owner?.account_id === account_id ? { outcome: 'connected', to } : failed('taken');
}

async function saveStep(
  { db: { externalSignIns } }: ReadWork,
  step: object,
  lifeMs: number,
): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await externalSignIns.insert(sha256(token), step, Date.now() + lifeMs);
  return token;
}

/** Returns the username that the provider suggests for a sign-up; undefined if the token is unknown or expired. */
export async function readSuggestedUsername(
  unitOfWork: Units,
  token: string,
): Promise<{ suggested_username: string | null } | undefined> {
  const now = Date.now();
  const step = await unitOfWork.read(system, (work) => work.db.externalSignIns.find(sha256(token), now));
  return provenStep.safeParse(step).data;
}

/**
 * Creates the account of a person who came from the provider and has chosen a username.
 * @returns undefined if the token is unknown or expired.
 * @throws {DomainError} FORBIDDEN (sign-up is closed); VALIDATION_ERROR or DUPLICATE_HANDLE, with the wrong field in `details`:
 * username, invitation
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
    await unitOfWork.read(system, (work) => work.db.externalSignIns.find(sha256(token), now)),
  );
  if (!step.success) return undefined;
  const { identity, to } = step.data;
  const username = parseChosenOwnerName('username', input.username);
  const account = { username, password_hash: null, invitation: input.invitation };
  const opened = await openAccount(unitOfWork, account, mode, async (work, account_id) => {
    await work.db.externalSignIns.take(sha256(token), work.now);
    const created_at = work.now;
    if (await work.db.accountIdentities.insert({ ...identity, account_id, created_at })) return;
    // The same person signed up in another window.
    throw new DomainError('INVALID_TRANSITION', 'This sign-up is already finished. Sign in again.');
  });
  return { ...opened, to };
}

/** Returns the external identities of an account, oldest first. Times in milliseconds. */
export function listIdentities({ db: { accountIdentities } }: ReadWork, account_id: string) {
  return accountIdentities.list(account_id);
}

/**
 * Disconnects an account from an external provider.
 * @throws {DomainError} NOT_FOUND, INVALID_TRANSITION (the only way to sign in)
 */
export async function disconnectIdentity(
  { db: { accounts, accountIdentities }, changes: { audit } }: SystemWork,
  account_id: string,
  { issuer, subject }: Identity,
): Promise<void> {
  const account = await accounts.lock(account_id);
  const identities = await accountIdentities.list(account_id);
  // Compared here, because the input may contain characters that PostgreSQL rejects.
  const isConnected = identities.some((one) => one.issuer === issuer && one.subject === subject);
  if (!isConnected) throw new DomainError('NOT_FOUND', 'Your account is not connected to this provider.');
  if (account?.password_hash === null && identities.length < 2) {
    throw new DomainError('INVALID_TRANSITION', 'This is your only way to sign in; set a password first.');
  }
  await accountIdentities.remove(account_id, issuer, subject);
  audit({ act: 'identity.disconnected', account_id, about: issuer });
}
