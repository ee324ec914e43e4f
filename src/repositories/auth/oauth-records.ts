import { repository, sql } from '../sql.ts';

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
  duration_ms: number;
  /** Including the first use. */
  uses: number;
}

/** A process that consumed a record saves the successor within this time, or never. */
const maxSaveMs = 10_000;

export const oauthRecordsRepository = repository({
  /** Inserts or replaces a record. */
  put: sql.run<[record: NewOAuthRecord]>(
    'oauth_records.put',
    `insert into oauth_records (model, id_hash, grant_id, payload, expires_at) values (:model, :id_hash, :grant_id, :payload, :expires_at)
     on conflict (model, id_hash) do update
     set grant_id = excluded.grant_id, payload = excluded.payload, expires_at = excluded.expires_at`,
  ),
  /** Inserts a record. Returns true for one of several concurrent callers. */
  add: sql.hasRow<[newOAuthRecord: NewOAuthRecord]>(
    'oauth_records.add',
    `insert into oauth_records (model, id_hash, grant_id, payload, expires_at) values (:model, :id_hash, :grant_id, :payload, :expires_at)
     on conflict (model, id_hash) do nothing returning 1`,
  ),
  find: sql.row<[model: string, idHash: Buffer], OAuthRecordRow>(
    'oauth_records.find(model, id_hash)',
    `select grant_id, payload, consumed_at from oauth_records where model = :model and id_hash = :id_hash`,
  ),
  /**
   * Consumes a record and counts the use. Returns true for one of several concurrent callers; during the grace period also for others,
   * until a successor (`payload.successor_of` is the hash of this record in hexadecimal) is consumed itself. After the grace period it
   * returns true if there is no successor: a process crashed before it saved one.
   */
  consume: sql.hasRow<[model: string, idHash: Buffer, now: number, grace: Grace]>(
    'oauth_records.consume(model, id_hash, now, ...)',
    `update oauth_records r
     set consumed_at = case when :now - consumed_at < :duration_ms::bigint then consumed_at else :now end,
       payload = payload || jsonb_build_object('uses', coalesce((payload->>'uses')::int, 0) + 1)
     where model = :model and id_hash = :id_hash and (
       consumed_at is null
       or ((payload->>'uses')::int < :uses
         and (abs(:now - consumed_at) < :duration_ms::bigint or :now - consumed_at > ${maxSaveMs})
         and not exists (
           select from oauth_records s
           where s.grant_id = r.grant_id and s.model = :model
             and (s.consumed_at is not null or :now - r.consumed_at >= :duration_ms::bigint)
             and s.payload->>'successor_of' = encode(r.id_hash, 'hex'))))
     returning 1`,
  ),
  /** Returns true for one of several concurrent callers, if the record existed. */
  remove: sql.hasRow<[model: string, idHash: Buffer]>(
    'oauth_records.remove(model, id_hash)',
    `delete from oauth_records where model = :model and id_hash = :id_hash returning 1`,
  ),
  removeOfGrant: sql.run<[grantId: string]>(
    'oauth_records.remove_of_grant',
    `delete from oauth_records where grant_id = :grant_id`,
  ),
  /** Removes up to `limit` records that expired before `time` (ms); returns how many. */
  removeExpired: sql.rowCount<[time: number, limit: number]>(
    'oauth_records.remove_expired(time, limit)',
    `delete from oauth_records where (model, id_hash) in
       (select model, id_hash from oauth_records where expires_at < :time limit :limit)
     returning 1`,
  ),
});
