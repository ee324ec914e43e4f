import { databaseNow } from '../../shared/clock.ts';
import { type Queryable, statement } from '../queryable.ts';

const removeExpired = statement(
  'rate_limits.remove_expired',
  `delete from rate_limits where key in (select key from rate_limits where expire < ${databaseNow} limit $1)
   returning 1`,
);

const removeExchangesBefore = statement(
  'exchanges.remove_before',
  `delete from thread_exchanges where (thread_id, one_id, other_id) in
     (select thread_id, one_id, other_id from thread_exchanges where since < $1 limit $2)
   returning 1`,
);

/** Only removes rows of the rate limiter, which counts by itself. */
export function rateLimitsRepository(db: Queryable) {
  return {
    /** Removes up to `limit` periods that have ended; returns how many. */
    async removeExpired(limit: number): Promise<number> {
      return (await db.query(removeExpired, [limit])).length;
    },
  };
}

/** Only removes rows of the loop guard: sending messages counts exchanges. */
export function exchangesRepository(db: Queryable) {
  return {
    /** Removes up to `limit` periods that began before `time` (ms); returns how many. */
    async removeBefore(time: number, limit: number): Promise<number> {
      return (await db.query(removeExchangesBefore, [time, limit])).length;
    },
  };
}
