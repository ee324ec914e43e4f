import { type Queryable, statement, query } from '../queryable.ts';

/** A browser in which a person is signed in. */
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
    `select s.account_id, o.name as username from sessions s join owners o on o.id = s.account_id
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
    'sessions.remove_all_but',
    `delete from sessions where account_id = :account_id and id_hash is distinct from :id_hash returning 1`,
  ),
  keepLatest: statement(
    'sessions.remove_beyond',
    `delete from sessions where id_hash in
       (select id_hash from sessions where account_id = :account_id order by last_seen_at desc, id_hash offset :most)`,
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
    /** Whose session it is, unless it is over at `now` (ms). */
    async findPerson(
      idHash: Buffer,
      now: number,
    ): Promise<{ account_id: string; username: string } | undefined> {
      const rows = await query<{ account_id: string; username: string }>(db, statements.findPerson, {
        id_hash: idHash,
        now,
      });
      return rows[0];
    },
    /** Notes that a session was used at `now`; one that is over stays over. */
    async touch(idHash: Buffer, now: number, expiresAt: number): Promise<void> {
      await query(db, statements.touch, { id_hash: idHash, now, expires_at: expiresAt });
    },
    /** Those that are not over at `now`, the last used first. */
    list(accountId: string, now: number): Promise<SessionRow[]> {
      return query<SessionRow>(db, statements.list, { account_id: accountId, now });
    },
    /** Whether the account had it. */
    async remove(accountId: string, idHash: Buffer): Promise<boolean> {
      return (await query(db, statements.remove, { account_id: accountId, id_hash: idHash })).length > 0;
    },
    /** Removes all of an account except the one named, if one is; answers how many. */
    async removeAllExcept(accountId: string, idHash: Buffer | null): Promise<number> {
      return (await query(db, statements.removeAllExcept, { account_id: accountId, id_hash: idHash })).length;
    },
    /** Keeps of an account the `most` that were used last. */
    async keepLatest(accountId: string, most: number): Promise<void> {
      await query(db, statements.keepLatest, { account_id: accountId, most });
    },
    /** Removes up to `limit` that were over before `time` (ms); answers how many. */
    async removeExpired(time: number, limit: number): Promise<number> {
      return (await query(db, statements.removeExpired, { time, limit })).length;
    },
  };
}
