import { RateLimiterRedis } from 'rate-limiter-flexible';
import { type ErrorLog, limitedLog } from './error-log.ts';
import { insuredLimiter, patience_ms } from './limiter-insured.ts';
import type { Limit, Limiter } from './limiter.ts';
import { closeRedis, connectRedis, failFast } from './redis.ts';

export interface RedisLimiterOptions<Name extends string> {
  url: string;
  /** Put before every key, so that several installations or test suites share one Redis. */
  prefix: string;
  limits: Readonly<Record<Name, Limit>>;
  log: ErrorLog;
}

/** Counts in Redis: one script, one round trip for each call. Connects at the first call. */
export function redisLimiter<Name extends string>(options: RedisLimiterOptions<Name>): Limiter<Name> {
  const { url, prefix, limits } = options;
  const log = limitedLog(options.log);
  // The first calls wait for the connection like for any other answer.
  const waiting = { enableOfflineQueue: true, lazyConnect: true, commandTimeout: patience_ms };
  const client = connectRedis(url, log, { ...failFast, ...waiting });
  return insuredLimiter({
    limits,
    log,
    shared: ({ keyPrefix, ...counting }) =>
      new RateLimiterRedis({ ...counting, storeClient: client, keyPrefix: `${prefix}${keyPrefix}` }),
    close: () => closeRedis(client),
  });
}
