import { repository, sql } from '../sql.ts';

/** Sign-ins through an external provider that are in progress. The caller defines the content of a step. Times are in milliseconds. */
export const externalSignInsRepository = repository({
  insert: sql.run<[idHash: Buffer, step: object, expiresAt: number]>(
    'external_sign_ins.insert(id_hash, step, expires_at)',
    `insert into external_sign_ins (id_hash, step, expires_at) values (:id_hash, :step, :expires_at)`,
  ),
  /** The step, unless it has expired. */
  find: sql.value<[idHash: Buffer, now: number], unknown>(
    'external_sign_ins.find(id_hash, now)',
    `select step from external_sign_ins where id_hash = :id_hash and expires_at > :now`,
  ),
  /** Removes up to `limit` steps that expired before `time`; returns how many. */
  removeExpired: sql.rowCount<[time: number, limit: number]>(
    'external_sign_ins.remove_expired(time, limit)',
    `delete from external_sign_ins where id_hash in
         (select id_hash from external_sign_ins where expires_at < :time limit :limit)
       returning 1`,
  ),
  /** As find, and removes the step: only one caller gets it. */
  take: sql.value<[idHash: Buffer, now: number], unknown>(
    'external_sign_ins.take(id_hash, now)',
    `with removed as (delete from external_sign_ins where id_hash = :id_hash returning step, expires_at)
       select step from removed where expires_at > :now`,
  ),
});
