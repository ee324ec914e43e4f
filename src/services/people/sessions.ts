import { randomBytes } from 'node:crypto';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';
import type { SessionRow } from '../../repositories/people/sessions.ts';
import { sha256 } from '../auth/token-records.ts';
import { endConnectionsOfAccount } from '../auth/connections.ts';
import type { Revocation } from '../auth/tokens.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Time from the last use of a session to its expiry. */
export const sessionLifeMs = 30 * dayMs;

const maxSessions = 100;
const maxAddressLength = 64;
const maxUserAgentLength = 300;

/**
 * Opens a browser session of an authenticated person. It expires 30 days after its last use. An account has at most 100 sessions; the
 * least recently used one ends first.
 * @returns the token for the browser, of which only the hash is stored, and its expiry (ms).
 */
export async function openSession(
  { db: { sessions }, changes: { audit }, now }: SystemWork,
  from: { account_id: string; address: string; user_agent: string },
): Promise<{ token: string; expires_at: number }> {
  const token = randomBytes(32).toString('base64url');
  const expires_at = now + sessionLifeMs;
  await sessions.insert({
    id_hash: sha256(token),
    account_id: from.account_id,
    address: from.address.slice(0, maxAddressLength),
    user_agent: from.user_agent.slice(0, maxUserAgentLength),
    created_at: now,
    last_seen_at: now,
    expires_at,
  });
  await sessions.keepLatest(from.account_id, maxSessions);
  audit({ act: 'sign_in.succeeded', account_id: from.account_id, detail: { address: from.address } });
  return { token, expires_at };
}

/** Returns the person of a session token; undefined if the session is unknown, ended, or expired at `now` (ms). */
export async function findPerson(
  { db: { sessions } }: ReadWork,
  token: string,
  now: number,
): Promise<Person | undefined> {
  const idHash = sha256(token);
  const found = await sessions.findPerson(idHash, now);
  return found && { ...found, session_id: idHash.toString('base64url') };
}

/** Extends a session by 30 days from now. An ended session stays ended. */
export async function touchSession({ db: { sessions }, now }: SystemWork, session_id: string): Promise<void> {
  await sessions.touch(toIdHash(session_id), now, now + sessionLifeMs);
}

/** A browser in which a person is signed in. Times are in milliseconds. */
export interface ListedSession extends Pick<
  SessionRow,
  'created_at' | 'last_seen_at' | 'address' | 'user_agent'
> {
  /** Made from the hash of its token. */
  id: string;
}

/** Returns the active sessions of an account, last used first. Times in milliseconds; `id` is `session_id` of Person. */
export async function listSessions(
  { db: { sessions } }: ReadWork,
  account_id: string,
): Promise<ListedSession[]> {
  const rows = await sessions.list(account_id, Date.now());
  return rows.map(({ id_hash, created_at, last_seen_at, address, user_agent }) => ({
    id: id_hash.toString('base64url'),
    created_at,
    last_seen_at,
    address,
    user_agent,
  }));
}

/** Ends a session of an account. Returns whether it existed. */
export function endSession({ db: { sessions } }: ReadWork, account_id: string, id: string): Promise<boolean> {
  return sessions.remove(account_id, toIdHash(id));
}

/** Ends all sessions of a person except the current one. Returns their number. */
export async function endOtherSessions(
  { db: { sessions }, changes: { audit } }: SystemWork,
  { account_id, session_id }: Person,
): Promise<number> {
  const ended = await sessions.removeAllExcept(account_id, toIdHash(session_id));
  audit({ act: 'sessions.ended', account_id, detail: { sessions: ended } });
  return ended;
}

function toIdHash(session_id: string): Buffer {
  return Buffer.from(session_id, 'base64url');
}

/** The result of signing out everywhere; publish `ended` after the commit. */
export interface SignedOut {
  sessions_ended: number;
  apps_ended: number;
  ended: Revocation[];
}

/** Ends all browser sessions of an account, and with `apps` also its connections with their tokens. */
export async function signOutEverywhere(
  work: SystemWork,
  account_id: string,
  { apps }: { apps: boolean },
): Promise<SignedOut> {
  const sessions_ended = await work.db.sessions.removeAllExcept(account_id, null);
  work.changes.audit({ act: 'sessions.ended', account_id, detail: { sessions: sessions_ended, apps } });
  if (!apps) return { sessions_ended, apps_ended: 0, ended: [] };
  const { grants, ended } = await endConnectionsOfAccount(work, account_id);
  return { sessions_ended, apps_ended: grants, ended };
}
