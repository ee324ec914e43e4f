import { randomBytes } from 'node:crypto';
import type { Person } from '../domain/person.ts';
import type { Administration } from '../unit-of-work.ts';
import { sha256 } from './token-records.ts';

type Sessions = Pick<Administration, 'sessions'>;

const day = 24 * 60 * 60 * 1000;

/** Milliseconds from the last use of a session to its end. */
export const sessionLife_ms = 30 * day;

const most = 100;
const longestAddress = 64;
const longestUserAgent = 300;

/**
 * Opens a browser session of a person who has just proved who they are. It ends 30 days after its last use; beyond 100 sessions
 * of one account the one that was used least recently ends.
 * @returns the token for the browser, of which only the hash is kept, and when it ends (ms).
 */
export async function openSession(
  { sessions, now, note }: Administration,
  from: { account_id: string; address: string; user_agent: string },
): Promise<{ token: string; expires_at: number }> {
  const token = randomBytes(32).toString('base64url');
  const expires_at = now + sessionLife_ms;
  await sessions.insert({
    id_hash: sha256(token),
    account_id: from.account_id,
    address: from.address.slice(0, longestAddress),
    user_agent: from.user_agent.slice(0, longestUserAgent),
    created_at: now,
    last_seen_at: now,
    expires_at,
  });
  await sessions.removeBeyond(from.account_id, most);
  note({ act: 'sign_in.succeeded', account_id: from.account_id, detail: { address: from.address } });
  return { token, expires_at };
}

/** Who is signed in with this token: one keyed look-up. Undefined when the session is unknown, ended or expired at `now` (ms). */
export async function findPerson(
  { sessions }: Sessions,
  token: string,
  now: number,
): Promise<Person | undefined> {
  const idHash = sha256(token);
  const found = await sessions.findPerson(idHash, now);
  return found && { ...found, session_id: idHash.toString('base64url') };
}

/** Notes that a session is in use, so that it goes on for another 30 days. An ended one stays ended. */
export async function touchSession({ sessions, now }: Administration, session_id: string): Promise<void> {
  await sessions.touch(idHashOf(session_id), now, now + sessionLife_ms);
}

/** The sessions of an account that are not over, the last used first. Times in milliseconds; `id` is as in Person. */
export async function listSessions({ sessions }: Sessions, account_id: string) {
  const rows = await sessions.list(account_id, Date.now());
  return rows.map(({ id_hash, created_at, last_seen_at, address, user_agent }) => ({
    id: id_hash.toString('base64url'),
    created_at,
    last_seen_at,
    address,
    user_agent,
  }));
}

/** Ends a session of an account; answers whether there was one. */
export function endSession({ sessions }: Sessions, account_id: string, id: string): Promise<boolean> {
  return sessions.remove(account_id, idHashOf(id));
}

/** Ends every session of a person except the one that asks; answers how many. */
export async function endOtherSessions(
  { sessions, note }: Sessions & Pick<Administration, 'note'>,
  { account_id, session_id }: Person,
): Promise<number> {
  const ended = await sessions.removeAllBut(account_id, idHashOf(session_id));
  note({ act: 'sessions.ended', account_id, detail: { sessions: ended } });
  return ended;
}

function idHashOf(session_id: string): Buffer {
  return Buffer.from(session_id, 'base64url');
}
