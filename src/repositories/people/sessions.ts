import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import { repository, sql } from '../sql.ts';

/** A browser session of a person. Times are in milliseconds. */
export interface SessionRow {
  /** SHA-256 of the token in the browser's cookie. */
  id_hash: Buffer;
  account_id: string;
  address: string;
  user_agent: string;
  created_at: number;
  last_seen_at: number;
  expires_at: number;
}

export const sessionsRepository = repository({
  insert: sql.run<[session: SessionRow]>(
    'sessions.insert',
    `insert into sessions (id_hash, account_id, address, user_agent, created_at, last_seen_at, expires_at)
     values (:id_hash, :account_id, :address, :user_agent, :created_at, :last_seen_at, :expires_at)`,
  ),
  /** The person of a session that has not expired at `now`. */
  findPerson: sql.row<[idHash: Buffer, now: number], Omit<Person, 'session_id'>>(
    'sessions.find_person(id_hash, now)',
    `select s.account_id, o.name as username, n.time_zone from sessions s join owners o on o.id = s.account_id
     left join notification_settings n on n.account_id = s.account_id
     where s.id_hash = :id_hash and s.expires_at > :now`,
  ),
  /** Records that a session was used at `now`. An expired session stays expired. */
  touch: sql.run<[idHash: Buffer, now: number, expiresAt: number]>(
    'sessions.touch(id_hash, now, expires_at)',
    `update sessions set last_seen_at = :now, expires_at = :expires_at where id_hash = :id_hash and expires_at > :now`,
  ),
  /** Sessions that have not expired at `now`, the last used first. */
  list: sql.rows<[accountId: string, now: number], SessionRow>(
    'sessions.list(account_id, now)',
    `select id_hash, account_id, address, user_agent, created_at, last_seen_at, expires_at from sessions
     where account_id = :account_id and expires_at > :now order by last_seen_at desc, id_hash`,
  ),
  /** Returns false when the account has no such session. */
  remove: sql.hasRow<[accountId: string, idHash: Buffer]>(
    'sessions.remove(account_id, id_hash)',
    `delete from sessions where account_id = :account_id and id_hash = :id_hash returning 1`,
  ),
  /** Removes all sessions of an account except one, unless that is null; returns how many. */
  removeAllExcept: sql.rowCount<[accountId: string, idHash: Buffer | null]>(
    'sessions.remove_all_except(account_id, id_hash)',
    `delete from sessions where account_id = :account_id and id_hash is distinct from :id_hash returning 1`,
  ),
  /** Removes all sessions of an account but the `count` that were used last. */
  keepLatest: sql.run<[accountId: string, count: number]>(
    'sessions.keep_latest(account_id, count)',
    `delete from sessions where id_hash in
       (select id_hash from sessions where account_id = :account_id order by last_seen_at desc, id_hash offset :count)`,
  ),
  /** Removes up to `limit` sessions that expired before `time`; returns how many. */
  removeExpired: sql.rowCount<[time: number, limit: number]>(
    'sessions.remove_expired(time, limit)',
    `delete from sessions where id_hash in (select id_hash from sessions where expires_at < :time limit :limit)
     returning 1`,
  ),
});
