import { type Queryable, statement } from '../queryable.ts';

const removeExpired = statement(
  'rate_limits.remove_expired',
  `delete from rate_limits where key in (select key from rate_limits where expire < $1 limit $2)
   returning 1`,
);

/** Of the table itself only what is over: counting is the limiter's. */
export function rateLimitsRepository(db: Queryable) {
  return {
    /** Removes up to `limit` periods that ended before `time` (ms); answers how many. */
    async removeExpired(time: number, limit: number): Promise<number> {
      return (await db.query(removeExpired, [time, limit])).length;
    },
  };
}
