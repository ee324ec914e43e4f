import { databaseNow } from '../../shared/clock.ts';
import { repository, sql } from '../sql.ts';

/** Only removes rows of the rate limiter, which counts by itself. */
export const rateLimitsRepository = repository({
  /** Removes up to `limit` periods that have ended; returns how many. */
  removeExpired: sql.rowCount<[limit: number]>(
    'rate_limits.remove_expired',
    `delete from rate_limits where key in (select key from rate_limits where expire < ${databaseNow} limit :limit)
   returning 1`,
  ),
});

/** Only removes rows of the loop guard: sending messages counts exchanges. */
export const exchangesRepository = repository({
  /** Removes up to `limit` periods that began before `time` (ms); returns how many. */
  removeBefore: sql.rowCount<[time: number, limit: number]>(
    'exchanges.remove_before(time, limit)',
    `delete from thread_exchanges where (thread_id, one_id, other_id) in
     (select thread_id, one_id, other_id from thread_exchanges where since < :time limit :limit)
   returning 1`,
  ),
});
