import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import { type Queryable, statement, query } from '../queryable.ts';

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

const statements = {
  insert: statement(
    'sessions.insert',
    `insert into sessions (id_hash, account_id, address, user_agent, created_at, last_seen_at, expires_at)
     values (:id_hash, :account_id, :address, :user_agent, :created_at, :last_seen_at, :expires_at)`,
  ),
  findPerson: statement(
    'sessions.find_person',
    `select s.account_id, o.name as username, n.time_zone from sessions s join owners o on o.id = s.account_id
     left join notification_settings n on n.account_id = s.account_id and n.time_zone <> 'UTC'
     where s.id_hash = :id_hash and s.expires_at > :now`,
  ),
  touch: statement(
    'sessions.touch',
    `update sessions set last_seen_at = :now, expires_at = :expires_at where id_hash = :id_hash and expires_at > :now`,
  ),
  list: statement(
    'sessions.list',
    `select id_hash, account_id, address, user_agent, created_at, last_seen_at, expires_at from sessions
     where account_id = :account_id and expires_at > :now order by last_seen_at desc, id_hash`,
  ),
  remove: statement(
    'sessions.remove',
    `delete from sessions where account_id = :account_id and id_hash = :id_hash returning 1`,
  ),
  removeAllExcept: statement(
    'sessions.remove_all_except',
    `delete from sessions where account_id = :account_id and id_hash is distinct from :id_hash returning 1`,
  ),
  keepLatest: statement(
    'sessions.keep_latest',
    `delete from sessions where id_hash in
       (select id_hash from sessions where account_id = :account_id order by last_seen_at desc, id_hash offset :count)`,
  ),
  removeExpired: statement(
    'sessions.remove_expired',
    `delete from sessions where id_hash in (select id_hash from sessions where expires_at < :time limit :limit)
     returning 1`,
  ),
};

export function sessionsRepository(db: Queryable) {
  return {
    async insert(session: SessionRow): Promise<void> {
      const { id_hash, account_id, address, user_agent, created_at, last_seen_at, expires_at } = session;
      const times = { created_at, last_seen_at, expires_at };
      await query(db, statements.insert, { id_hash, account_id, address, user_agent, ...times });
    },
    /** The person of a session that has not expired at `now`. */
    async findPerson(idHash: Buffer, now: number): Promise<Omit<Person, 'session_id'> | undefined> {
      const rows = await query<Omit<Person, 'session_id'>>(db, statements.findPerson, {
        id_hash: idHash,
        now,
      });
      return rows[0];
    },
    /** Records that a session was used at `now`. An expired session stays expired. */
    async touch(idHash: Buffer, now: number, expiresAt: number): Promise<void> {
      await query(db, statements.touch, { id_hash: idHash, now, expires_at: expiresAt });
    },
    /** Sessions that have not expired at `now`, the last used first. */
    list(accountId: string, now: number): Promise<SessionRow[]> {
      return query<SessionRow>(db, statements.list, { account_id: accountId, now });
    },
    /** Returns false when the account has no such session. */
    async remove(accountId: string, idHash: Buffer): Promise<boolean> {
      return (await query(db, statements.remove, { account_id: accountId, id_hash: idHash })).length > 0;
    },
    /** Removes all sessions of an account except one, unless that is null; returns how many. */
    async removeAllExcept(accountId: string, idHash: Buffer | null): Promise<number> {
      return (await query(db, statements.removeAllExcept, { account_id: accountId, id_hash: idHash })).length;
    },
    /** Removes all sessions of an account but the `count` that were used last. */
    async keepLatest(accountId: string, count: number): Promise<void> {
      await query(db, statements.keepLatest, { account_id: accountId, count });
    },
    /** Removes up to `limit` sessions that expired before `time`; returns how many. */
    async removeExpired(time: number, limit: number): Promise<number> {
      return (await query(db, statements.removeExpired, { time, limit })).length;
    },
  };
}
