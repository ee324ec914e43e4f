import { statement } from '../queryable.ts';
import { repository, sql } from '../sql.ts';

const statements = {
  take: statement(
    'external_sign_ins.take',
    `delete from external_sign_ins where id_hash = $1 returning step, expires_at`,
  ),
};

/** Sign-ins through an external provider that are in progress. The caller defines the content of a step. Times are in milliseconds. */
export const externalSignInsRepository = repository(
  {
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
  },
  (db) => ({
    /** As find, and removes the step: only one caller gets it. */
    async take(idHash: Buffer, now: number): Promise<unknown> {
      const [row] = await db.query<{ step: unknown; expires_at: number }>(statements.take, [idHash]);
      return row && row.expires_at > now ? row.step : undefined;
    },
  }),
);
