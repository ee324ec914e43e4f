import { Pool } from 'pg';
import { type ErrorLog, createLimitedLog } from '../../shared/error-log.ts';
import { DatabaseCounter } from './database-counter.ts';
import { createFallbackLimiter, storeTimeoutMs } from './fallback.ts';
import type { Limit, Limiter } from './limiter.ts';

export interface PostgresLimiterOptions<Name extends string> {
  url: string;
  limits: Readonly<Record<Name, Limit>>;
  log: ErrorLog;
}

/**
 * Counts in the table `rate_limits`, by the clock of the database: one statement per call, over up to four separate connections, so that calls and transactions do not
 * wait for each other. The maintenance worker removes expired rows.
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
  // The pool listens to idle clients only. An error without a listener would end the process; the statement reports it.
  pool.on('connect', (client) => void client.on('error', () => undefined));
  return createFallbackLimiter({
    limits: options.limits,
    log,
    createSharedCounter: (counting) => new DatabaseCounter(pool, counting),
    close: () => pool.end(),
  });
}
