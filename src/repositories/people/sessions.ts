import { type Queryable, statement } from '../queryable.ts';

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
     values ($1, $2, $3, $4, $5, $6, $7)`,
  ),
  findPerson: statement(
    'sessions.find_person',
    `select s.account_id, o.name as username from sessions s join owners o on o.id = s.account_id
     where s.id_hash = $1 and s.expires_at > $2`,
  ),
  touch: statement(
    'sessions.touch',
    `update sessions set last_seen_at = $2, expires_at = $3 where id_hash = $1 and expires_at > $2`,
  ),
  list: statement(
    'sessions.list',
    `select id_hash, account_id, address, user_agent, created_at, last_seen_at, expires_at from sessions
     where account_id = $1 and expires_at > $2 order by last_seen_at desc, id_hash`,
  ),
  remove: statement(
    'sessions.remove',
    `delete from sessions where account_id = $1 and id_hash = $2 returning 1`,
  ),
  removeAllExcept: statement(
    'sessions.remove_all_but',
    `delete from sessions where account_id = $1 and id_hash is distinct from $2 returning 1`,
  ),
  keepLatest: statement(
    'sessions.remove_beyond',
    `delete from sessions where id_hash in
       (select id_hash from sessions where account_id = $1 order by last_seen_at desc, id_hash offset $2)`,
  ),
  removeExpired: statement(
    'sessions.remove_expired',
    `delete from sessions where id_hash in (select id_hash from sessions where expires_at < $1 limit $2)
     returning 1`,
  ),
};

export function sessionsRepository(db: Queryable) {
  return {
    async insert(session: SessionRow): Promise<void> {
      const { id_hash, account_id, address, user_agent, created_at, last_seen_at, expires_at } = session;
      const times = [created_at, last_seen_at, expires_at];
      await db.query(statements.insert, [id_hash, account_id, address, user_agent, ...times]);
    },
    /** Whose session it is, unless it is over at `now` (ms). */
    async findPerson(
      idHash: Buffer,
      now: number,
    ): Promise<{ account_id: string; username: string } | undefined> {
      const rows = await db.query<{ account_id: string; username: string }>(statements.findPerson, [
        idHash,
        now,
      ]);
      return rows[0];
    },
    /** Notes that a session was used at `now`; one that is over stays over. */
    async touch(idHash: Buffer, now: number, expiresAt: number): Promise<void> {
      await db.query(statements.touch, [idHash, now, expiresAt]);
    },
    /** Those that are not over at `now`, the last used first. */
    list(accountId: string, now: number): Promise<SessionRow[]> {
      return db.query<SessionRow>(statements.list, [accountId, now]);
    },
    /** Whether the account had it. */
    async remove(accountId: string, idHash: Buffer): Promise<boolean> {
      return (await db.query(statements.remove, [accountId, idHash])).length > 0;
    },
    /** Removes all of an account except the one named, if one is; answers how many. */
    async removeAllExcept(accountId: string, idHash: Buffer | null): Promise<number> {
      return (await db.query(statements.removeAllExcept, [accountId, idHash])).length;
    },
    /** Keeps of an account the `most` that were used last. */
    async keepLatest(accountId: string, most: number): Promise<void> {
      await db.query(statements.keepLatest, [accountId, most]);
    },
    /** Removes up to `limit` that were over before `time` (ms); answers how many. */
    async removeExpired(time: number, limit: number): Promise<number> {
      return (await db.query(statements.removeExpired, [time, limit])).length;
    },
  };
}
