import type { RedisClient } from './connect.ts';

/** How long a registration is valid, in seconds. */
const ttlSeconds = 20;

/** Uses the clock of Redis: those of the callers may differ. */
const script = `
  local now = tonumber(redis.call('TIME')[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[1]))
  if ARGV[2] then
    redis.call('ZADD', KEYS[1], now, ARGV[2])
    redis.call('EXPIRE', KEYS[1], ARGV[1])
  end
  return redis.call('ZRANGE', KEYS[1], 0, -1)`;

/** The names registered under a key of Redis in the last 20 s. With `own`, registers that name first. */
export async function listInstances(client: RedisClient, key: string, own?: string): Promise<string[]> {
  const names = await client.eval(script, 1, key, ttlSeconds, ...(own === undefined ? [] : [own]));
  return Array.isArray(names) ? names.map(String) : [];
}
