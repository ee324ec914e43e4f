import { type Queryable, statement, query } from '../queryable.ts';

/** A record of the authorization server that is not an access token: an interaction, a code, a refresh token. */
export interface OAuthRecordRow {
  grant_id: string | null;
  payload: Record<string, unknown>;
  consumed_at: number | null;
}

export interface NewOAuthRecord {
  model: string;
  /** SHA-256 of the id, which is a secret for most models. */
  id_hash: Buffer;
  grant_id: string | null;
  payload: object;
  expires_at: number | null;
}

/** How often and for how long (ms) a record can be used again after its first use. */
export interface Grace {
  lasts_ms: number;
  /** Including the first use. */
  uses: number;
}

const statements = {
  put: statement(
    'oauth_records.put',
    `insert into oauth_records (model, id_hash, grant_id, payload, expires_at) values (:model, :id_hash, :grant_id, :payload, :expires_at)
     on conflict (model, id_hash) do update
     set grant_id = excluded.grant_id, payload = excluded.payload, expires_at = excluded.expires_at`,
  ),
  add: statement(
    'oauth_records.add',
    `insert into oauth_records (model, id_hash, grant_id, payload, expires_at) values (:model, :id_hash, :grant_id, :payload, :expires_at)
     on conflict (model, id_hash) do nothing returning 1`,
  ),
  find: statement(
    'oauth_records.find',
    `select grant_id, payload, consumed_at from oauth_records where model = :model and id_hash = :id_hash`,
  ),
  consume: statement(
    'oauth_records.consume',
    `update oauth_records r
     set consumed_at = coalesce(consumed_at, :now),
       payload = payload || jsonb_build_object('uses', coalesce((payload->>'uses')::int, 0) + 1)
     where model = :model and id_hash = :id_hash and (
       consumed_at is null
       or (:lasts_ms::bigint > 0 and consumed_at > :now - :lasts_ms
         and (payload->>'uses')::int < :uses
         and not exists (
           select from oauth_records s
           where s.grant_id = r.grant_id and s.model = :model and s.consumed_at is not null
             and s.payload->>'successor_of' = encode(r.id_hash, 'hex'))))
     returning 1`,
  ),
  remove: statement(
    'oauth_records.remove',
    `delete from oauth_records where model = :model and id_hash = :id_hash returning 1`,
  ),
  removeOfGrant: statement(
    'oauth_records.remove_of_grant',
    `delete from oauth_records where grant_id = :grant_id`,
  ),
  removeExpired: statement(
    'oauth_records.remove_expired',
    `delete from oauth_records where (model, id_hash) in
       (select model, id_hash from oauth_records where expires_at < :time limit :limit)
     returning 1`,
  ),
};

export function oauthRecordsRepository(db: Queryable) {
  return {
    /** Inserts or replaces a record. */
    async put(record: NewOAuthRecord): Promise<void> {
      const { model, id_hash, grant_id, payload, expires_at } = record;
      await query(db, statements.put, { model, id_hash, grant_id, payload, expires_at });
    },
    /** Inserts a record. Returns true for one of several concurrent callers. */
    async add({ model, id_hash, grant_id, payload, expires_at }: NewOAuthRecord): Promise<boolean> {
      return (await query(db, statements.add, { model, id_hash, grant_id, payload, expires_at })).length > 0;
    },
    async find(model: string, idHash: Buffer): Promise<OAuthRecordRow | undefined> {
      return (await query<OAuthRecordRow>(db, statements.find, { model, id_hash: idHash }))[0];
    },
    /**
     * Consumes a record and counts the use. Returns true for one of several concurrent callers; during the grace period also for others,
     * until a successor (`payload.successor_of` is the hash of this record in hexadecimal) is consumed itself.
     */
    async consume(model: string, idHash: Buffer, now: number, grace: Grace): Promise<boolean> {
      const { lasts_ms, uses } = grace;
      return (
        (await query(db, statements.consume, { model, id_hash: idHash, now, lasts_ms, uses })).length > 0
      );
    },
    /** Returns true for one of several concurrent callers, if the record existed. */
    async remove(model: string, idHash: Buffer): Promise<boolean> {
      return (await query(db, statements.remove, { model, id_hash: idHash })).length > 0;
    },
    async removeOfGrant(grantId: string): Promise<void> {
      await query(db, statements.removeOfGrant, { grant_id: grantId });
    },
    /** Removes up to `limit` records that expired before `time` (ms); returns how many. */
    async removeExpired(time: number, limit: number): Promise<number> {
      return (await query(db, statements.removeExpired, { time, limit })).length;
    },
  };
}
