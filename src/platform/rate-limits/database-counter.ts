import type { Pool } from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { databaseNow } from '../../shared/clock.ts';
import type { CounterOptions } from './fallback.ts';

interface Period {
  points: number;
  ms_left: number;
}

const readPeriod = `points, greatest(0, expire - ${databaseNow})::int as ms_left`;

const statements = {
  add: {
    name: 'rate_limits.add',
    text: `insert into rate_limits (key, points, expire) values ($1, $2::int, ${databaseNow} + $3::int)
      on conflict (key) do update set
        points = case when rate_limits.expire <= ${databaseNow} then $2 else rate_limits.points + $2 end,
        expire = case when rate_limits.expire <= ${databaseNow} then ${databaseNow} + $3 else rate_limits.expire end
      returning ${readPeriod}`,
  },
  find: {
    name: 'rate_limits.find',
    text: `select ${readPeriod} from rate_limits where key = $1 and expire > ${databaseNow}`,
  },
};

/** Counts in PostgreSQL, in periods by the clock of the database: that of the library would be the clock of the process. */
export class DatabaseCounter extends RateLimiterPostgres {
  readonly #pool: Pool;

  constructor(pool: Pool, options: CounterOptions) {
    super({
      ...options,
      storeClient: pool,
      storeType: 'pool',
      tableName: 'rate_limits',
      tableCreated: true,
      clearExpiredByTimeout: false,
    });
    this.#pool = pool;
  }

  // The library calls these three by their names.
  async _upsert(key: string, points: number, periodMs: number): Promise<Period | undefined> {
    return (await this.#pool.query<Period>({ ...statements.add, values: [key, points, periodMs] })).rows[0];
  }

  async _get(key: string): Promise<Period | null> {
    return (await this.#pool.query<Period>({ ...statements.find, values: [key] })).rows[0] ?? null;
  }

  _getRateLimiterRes(_key: string, added: number, { points, ms_left }: Period): RateLimiterRes {
    return new RateLimiterRes(Math.max(0, this.points - points), ms_left, points, points === added);
  }
}
