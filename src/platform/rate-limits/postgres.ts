import { Pool } from 'pg';
import { RateLimiterPostgres } from 'rate-limiter-flexible';
import { type ErrorLog, createLimitedLog } from '../../shared/error-log.ts';
import { createFallbackLimiter, storeTimeoutMs } from './fallback.ts';
import type { Limit, Limiter } from './limiter.ts';

export interface PostgresLimiterOptions<Name extends string> {
  url: string;
  limits: Readonly<Record<Name, Limit>>;
  log: ErrorLog;
}

/**
 * Counts in the table `rate_limits`: one statement for each call, over up to four connections of its own, so that it neither waits
 * for the callers' transactions nor they for it. The maintenance worker removes what is over.
 */
export function createPostgresLimiter<Name extends string>(
  options: PostgresLimiterOptions<Name>,
): Limiter<Name> {
  const log = createLimitedLog(options.log);
  const pool = new Pool({
    connectionString: options.url,
    max: 4,
    connectionTimeoutMillis: storeTimeoutMs,
    query_timeout: storeTimeoutMs,
    keepAlive: true,
    options: '-c synchronous_commit=off',
  });
  pool.on('error', (error) => log('PostgreSQL connection of the rate limits lost', error));
  // The pool listens to idle clients only, and a fault nobody listens to would end the process; the statement reports it.
  pool.on('connect', (client) => void client.on('error', () => undefined));
  return createFallbackLimiter({
    limits: options.limits,
    log,
    createSharedCounter: (counting) =>
      new RateLimiterPostgres({
        ...counting,
        storeClient: pool,
        storeType: 'pool',
        tableName: 'rate_limits',
        tableCreated: true,
        clearExpiredByTimeout: false,
      }),
    close: () => pool.end(),
  });
}
