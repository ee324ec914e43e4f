import { RateLimiterMemory, RateLimiterRes, type RateLimiterStoreAbstract } from 'rate-limiter-flexible';
import type { ErrorLog } from '../../shared/error-log.ts';
import type { LimitState, Limit, Limiter } from './limiter.ts';
import { steadyNow } from '../../shared/clock.ts';

/** The timeout of the store. */
export const storeTimeoutMs = 1_000;
/** The interval of checks whether the store is available again. */
const retryIntervalMs = 1_000;

export interface CounterOptions {
  keyPrefix: string;
  points: number;
  duration: number;
  inMemoryBlockOnConsumed: number;
}

export interface FallbackLimiterOptions<Name extends string> {
  limits: Readonly<Record<Name, Limit>>;
  /** The counter of one limit in the store. It must fail within `storeTimeoutMs`. */
  createSharedCounter(options: CounterOptions): RateLimiterStoreAbstract;
  log: ErrorLog;
  close(): Promise<void>;
}

interface Counter {
  limit: Limit;
  shared: RateLimiterStoreAbstract;
  local: RateLimiterMemory;
}

/**
 * Counts in a store, and in this process while the store is unavailable. Only the call that detects an outage waits for the store. A key
 * over its limit is refused from memory, so that a flood does not reach the store.
 */
export function createFallbackLimiter<Name extends string>(
  parts: FallbackLimiterOptions<Name>,
): Limiter<Name> {
  const counters = new Map<Name, Counter>();
  let away = false;
  let nextLook = 0;

  function counterOf(name: Name): Counter {
    const existing = counters.get(name);
    if (existing) return existing;
    const limit = parts.limits[name];
    const options = { keyPrefix: name, points: limit.points, duration: limit.seconds };
    const created = {
      limit,
      shared: parts.createSharedCounter({ ...options, inMemoryBlockOnConsumed: limit.points }),
      local: new RateLimiterMemory(options),
    };
    counters.set(name, created);
    return created;
  }

  function lost(error: unknown): void {
    away = true;
    nextLook = steadyNow() + retryIntervalMs;
    parts.log('the rate limit store is unavailable: this process counts by itself', error);
  }

  async function look({ shared }: Counter, key: string): Promise<void> {
    nextLook = steadyNow() + retryIntervalMs;
    try {
      await shared.get(key);
      away = false;
    } catch (error) {
      lost(error);
    }
  }

  return {
    async consume(name, key, calls = 1) {
      const counter = counterOf(name);
      if (away) {
        if (steadyNow() >= nextLook) void look(counter, key);
        return consumeCalls(counter.local, counter.limit, key, calls);
      }
      try {
        return await consumeCalls(counter.shared, counter.limit, key, calls);
      } catch (error) {
        lost(error);
        return consumeCalls(counter.local, counter.limit, key, calls);
      }
    },
    close: () => parts.close(),
  };
}

/**
 * The library rejects with the count when calls exceed the limit, and with an error when the store failed. It counts the exceeding calls
 * too; a key that it refuses from memory has the count 0.
 */
async function consumeCalls(
  by: Pick<RateLimiterMemory, 'consume'>,
  limit: Limit,
  key: string,
  calls: number,
): Promise<LimitState> {
  try {
    const { remainingPoints, msBeforeNext } = await by.consume(key, calls);
    return { limit, allowed: calls, remaining: remainingPoints, resetMs: msBeforeNext };
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    const { consumedPoints, msBeforeNext } = refusal;
    const exceeding = consumedPoints > limit.points ? consumedPoints - limit.points : calls;
    return { limit, allowed: Math.max(0, calls - exceeding), remaining: 0, resetMs: msBeforeNext };
  }
}
