import { RateLimiterRedis } from 'rate-limiter-flexible';
import { type ErrorLog, limitedLog } from './error-log.ts';
import { insuredLimiter, patience_ms } from './limiter-insured.ts';
import type { Limit, Limiter } from './limiter.ts';
import { closeRedis, connectRedis, failFast, redisReady } from './redis.ts';

export interface RedisLimiterOptions<Name extends string> {
  url: string;
  /** Put before every key, so that several installations or test suites share one Redis. In a cluster each key goes its own way. */
  prefix: string;
  limits: Readonly<Record<Name, Limit>>;
  log: ErrorLog;
}

/** Counts in Redis: one script, one round trip for each call. Connects at the first call. */
export function redisLimiter<Name extends string>(options: RedisLimiterOptions<Name>): Limiter<Name> {
  const { url, prefix, limits } = options;
  const log = limitedLog(options.log);
  const client = connectRedis(url, log, { ...failFast, lazyConnect: true, commandTimeout: patience_ms });
  const counts = insuredLimiter({
    limits,
    log,
    shared: ({ keyPrefix, ...counting }) =>
      new RateLimiterRedis({
        ...counting,
        storeClient: client,
        keyPrefix: `${prefix}${keyPrefix}`,
        rejectIfRedisNotReady: true,
      }),
    close: () => closeRedis(client),
  });

  let connected: Promise<unknown> | undefined;
  /** The first calls wait for the connection like for any other answer. */
  async function connect(): Promise<void> {
    client.connect().catch(() => 'redisReady says why');
    await redisReady(client, patience_ms).catch(() => 'what counts finds that out again, and says so');
  }

  return {
    async take(name, key) {
      connected ??= connect();
      await connected;
      return counts.take(name, key);
    },
    close: counts.close,
  };
}
