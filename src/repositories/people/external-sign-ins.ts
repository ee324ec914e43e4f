import { type Queryable, statement } from '../queryable.ts';

const statements = {
  insert: statement(
    'external_sign_ins.insert',
    `insert into external_sign_ins (id_hash, step, expires_at) values ($1, $2, $3)`,
  ),
  find: statement(
    'external_sign_ins.find',
    `select step from external_sign_ins where id_hash = $1 and expires_at > $2`,
  ),
  take: statement(
    'external_sign_ins.take',
    `delete from external_sign_ins where id_hash = $1 returning step, expires_at`,
  ),
  removeExpired: statement(
    'external_sign_ins.remove_expired',
    `delete from external_sign_ins where id_hash in
       (select id_hash from external_sign_ins where expires_at < $1 limit $2)
     returning 1`,
  ),
};

/** Sign-ins through an external provider that are in progress. The caller defines the content of a step. Times are in milliseconds. */
export function externalSignInsRepository(db: Queryable) {
  return {
    async insert(idHash: Buffer, step: object, expiresAt: number): Promise<void> {
      await db.query(statements.insert, [idHash, step, expiresAt]);
    },
    /** The step, unless it has expired. */
    async find(idHash: Buffer, now: number): Promise<unknown> {
      return (await db.query<{ step: unknown }>(statements.find, [idHash, now]))[0]?.step;
    },
    /** As find, and removes the step: only one caller gets it. */
    async take(idHash: Buffer, now: number): Promise<unknown> {
      const [row] = await db.query<{ step: unknown; expires_at: number }>(statements.take, [idHash]);
      return row && row.expires_at > now ? row.step : undefined;
    },
    /** Removes up to `limit` steps that expired before `time`; returns how many. */
    async removeExpired(time: number, limit: number): Promise<number> {
      return (await db.query(statements.removeExpired, [time, limit])).length;
    },
  };
}
