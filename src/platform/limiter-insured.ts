import { RateLimiterMemory, RateLimiterRes, type RateLimiterStoreAbstract } from 'rate-limiter-flexible';
import type { ErrorLog } from './error-log.ts';
import type { Balance, Limit, Limiter } from './limiter.ts';

/** How long a store may take to answer, in milliseconds. */
export const patience_ms = 1_000;
/** The pause between two looks whether the store is back, in milliseconds. */
const pause_ms = 1_000;

export interface CounterOptions {
  keyPrefix: string;
  points: number;
  duration: number;
  inMemoryBlockOnConsumed: number;
}

export interface InsuredParts<Name extends string> {
  limits: Readonly<Record<Name, Limit>>;
  /** The count of one limit in the store. It must fail within `patience_ms`. */
  shared(options: CounterOptions): RateLimiterStoreAbstract;
  log: ErrorLog;
  close(): Promise<void>;
}

interface Counter {
  limit: Limit;
  shared: RateLimiterStoreAbstract;
  local: RateLimiterMemory;
}

/**
 * Counts in a store, and in this process while the store is away: whoever finds that out waited for it once; until it is back
 * nobody else does. What used up its limit is refused from memory, so that a flood does not reach the store.
 */
export function insuredLimiter<Name extends string>(parts: InsuredParts<Name>): Limiter<Name> {
  const counters = new Map<Name, Counter>();
  let away = false;
  let nextLook = 0;

  function counterOf(name: Name): Counter {
    const known = counters.get(name);
    if (known) return known;
    const limit = parts.limits[name];
    const options = { keyPrefix: name, points: limit.points, duration: limit.seconds };
    const made = {
      limit,
      shared: parts.shared({ ...options, inMemoryBlockOnConsumed: limit.points }),
      local: new RateLimiterMemory(options),
    };
    counters.set(name, made);
    return made;
  }

  function lost(error: unknown): void {
    away = true;
    nextLook = Date.now() + pause_ms;
    parts.log('the store of the rate limits is away: this process counts for itself', error);
  }

  /** Not waited for by anybody. */
  async function look({ shared }: Counter, key: string): Promise<void> {
    nextLook = Date.now() + pause_ms;
    try {
      await shared.get(key);
      away = false;
    } catch (error) {
      lost(error);
    }
  }

  return {
    async take(name, key) {
      const counter = counterOf(name);
      if (away) {
        if (Date.now() >= nextLook) void look(counter, key);
        return count(counter.local, counter.limit, key);
      }
      try {
        return await count(counter.shared, counter.limit, key);
      } catch (error) {
        lost(error);
        return count(counter.local, counter.limit, key);
      }
    },
    close: () => parts.close(),
  };
}

/** The library rejects with the count when a call is over its limit, and with an error when the store failed. */
async function count(by: Pick<RateLimiterMemory, 'consume'>, limit: Limit, key: string): Promise<Balance> {
  try {
    const { remainingPoints, msBeforeNext } = await by.consume(key);
    return { limit, allowed: true, remaining: remainingPoints, reset_ms: msBeforeNext };
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    return { limit, allowed: false, remaining: 0, reset_ms: refusal.msBeforeNext };
  }
}
