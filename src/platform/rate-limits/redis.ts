import { RateLimiterRedis } from 'rate-limiter-flexible';
import { type ErrorLog, createLimitedLog } from '../../shared/error-log.ts';
import { createFallbackLimiter, storeTimeoutMs } from './fallback.ts';
import type { Limit, Limiter } from './limiter.ts';
import { closeRedis, connectRedis, failFast, waitUntilReady } from '../redis/connect.ts';

export interface RedisLimiterOptions<Name extends string> {
  url: string;
  /** Prefix of every key, so that instances or test suites can share one Redis. In a cluster each key has its own slot. */
  prefix: string;
  limits: Readonly<Record<Name, Limit>>;
  log: ErrorLog;
}

/** Counts in Redis: one script and one round trip per call. Connects at the first call. */
export function createRedisLimiter<Name extends string>(options: RedisLimiterOptions<Name>): Limiter<Name> {
  const { url, prefix, limits } = options;
  const log = createLimitedLog(options.log);
  const client = connectRedis(url, log, { ...failFast, lazyConnect: true, commandTimeout: storeTimeoutMs });
  const counts = createFallbackLimiter({
    limits,
    log,
    createSharedCounter: ({ keyPrefix, ...counting }) =>
      new RateLimiterRedis({
        ...counting,
        storeClient: client,
        keyPrefix: `${prefix}${keyPrefix}`,
        rejectIfRedisNotReady: true,
      }),
    close: () => closeRedis(client),
  });

  let connected: Promise<unknown> | undefined;
  /** The first calls wait for the connection. */
  async function connect(): Promise<void> {
    // Errors are reported by redisReady and by the first count.
    client.connect().catch(() => undefined);
    await waitUntilReady(client, storeTimeoutMs).catch(() => undefined);
  }

  return {
    async consume(name, key, calls) {
      connected ??= connect();
      await connected;
      return counts.consume(name, key, calls);
    },
    close: counts.close,
  };
}
