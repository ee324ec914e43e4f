import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ErrorLog } from '../../../src/shared/error-log.ts';
import { createPostgresLimiter } from '../../../src/platform/rate-limits/postgres.ts';
import { createRedisLimiter } from '../../../src/platform/rate-limits/redis.ts';
import type { Limit, Limiter } from '../../../src/platform/rate-limits/limiter.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';
import { describeWithRedis, startTestRedis } from '../../support/servers/redis/server.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { stopAfterTest, use } from '../../support/use.ts';

const limits = {
  few: { points: 3, seconds: 60 },
  many: { points: 20, seconds: 60 },
  brief: { points: 1, seconds: 2 },
};
type Name = keyof typeof limits;

interface Options {
  url: string;
  limits: Record<Name, Limit>;
  log: ErrorLog;
}

interface Backend {
  url: string;
  open(options: Options): Limiter<Name>;
  /** The count in the store. */
  counted(name: Name, key: string): Promise<number>;
  stop(): Promise<void>;
}

await describeWithRedis('limits in Redis', () =>
  testLimiter(async () => {
    const redis = await startTestRedis();
    const client = new Redis(redis.url);
    return {
      url: redis.url,
      open: (options) => createRedisLimiter({ ...options, prefix: 'test:' }),
      counted: async (name, key) => Number(await client.get(`test:${name}:${key}`)),
      async stop() {
        client.disconnect();
        await redis.stop();
      },
    };
  }),
);

describe('limits in PostgreSQL', () =>
  testLimiter(async () => {
    const database = await createTestDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    return {
      url: database.url,
      open: createPostgresLimiter,
      async counted(name, key) {
        const values = [`${name}:${key}`];
        const { rows } = await client.query('select points from rate_limits where key = $1', values);
        return Number(rows[0]?.points ?? 0);
      },
      async stop() {
        await client.end();
        await database.drop();
      },
    };
  }));

function testLimiter(start: () => Promise<Backend>): void {
  const backend = use(() => start());

  function openLimiter(options: Partial<Options> = {}): Limiter<Name> {
    return stopAfterTest(backend.open({ url: backend.url, limits, log: () => undefined, ...options }));
  }

  const taken = async (limiter: Limiter<Name>, name: Name, key: string) =>
    (await limiter.consume(name, key))?.allowed === 1;

  /** A limiter whose connection to the store can be interrupted, and its log. */
  async function interruptible() {
    const proxy = await startTcpProxy(backend.url);
    const logged: string[] = [];
    const limiter = openLimiter({ url: proxy.url, log: (message) => void logged.push(message) });
    onTestFinished(() => proxy.close());
    return { proxy, logged, limiter };
  }

  test('count down, then refuse until the period is over', async () => {
    const limiter = openLimiter();
    const key = randomUUID();
    for (const remaining of [2, 1, 0]) {
      const balance = await limiter.consume('few', key);
      expect(balance).toMatchObject({ allowed: 1, remaining, limit: limits.few });
      expect(balance?.resetMs).toBeGreaterThan(0);
      expect(balance?.resetMs).toBeLessThanOrEqual(60_000);
    }
    expect(await limiter.consume('few', key)).toMatchObject({ allowed: 0, remaining: 0 });
    expect(await limiter.consume('few', randomUUID())).toMatchObject({ allowed: 1, remaining: 2 });
    expect(await limiter.consume('many', key)).toMatchObject({ allowed: 1, remaining: 19 });
  });

  test('restart when the period is over', async () => {
    const limiter = openLimiter();
    expect(await taken(limiter, 'brief', 'x')).toBe(true);
    expect(await taken(limiter, 'brief', 'x')).toBe(false);
    await expect.poll(() => taken(limiter, 'brief', 'x')).toBe(true);
  });

  test('are counted by the clock of the store, whatever that of a process shows', async () => {
    const key = randomUUID();
    for (const expected of [true, true, true]) expect(await taken(openLimiter(), 'few', key)).toBe(expected);
    const now = Date.now.bind(Date);
    for (const shift of [3_600_000, -3_600_000]) {
      const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + shift);
      const state = await openLimiter()
        .consume('few', key)
        .finally(() => clock.mockRestore());
      expect(state).toMatchObject({ allowed: 0, remaining: 0 });
      expect(state?.resetMs).toBeLessThanOrEqual(60_000);
    }
  });

  test('are shared: concurrent calls to several processes get exactly the limit', async () => {
    const processes = [openLimiter(), openLimiter(), openLimiter()];
    const key = randomUUID();
    const calls = Array.from({ length: 25 }, () => processes.map((each) => taken(each, 'many', key)));
    const answers = await Promise.all(calls.flat());
    expect(answers.filter(Boolean)).toHaveLength(20);
  });

  test('that are exhausted protect the store from a flood', async () => {
    const limiter = openLimiter();
    const key = randomUUID();
    for (let calls = 0; calls < 50; calls += 1) await limiter.consume('few', key);
    expect(await backend.counted('few', key)).toBe(3);
  });

  test('are enforced by the process during an outage of the store, and by the store afterwards', async () => {
    const { proxy, logged, limiter } = await interruptible();
    const key = randomUUID();
    expect(await taken(limiter, 'few', randomUUID())).toBe(true);
    await proxy.disconnect();
    const meanwhile = [];
    for (let calls = 0; calls < 5; calls += 1) meanwhile.push(await taken(limiter, 'few', key));
    expect(meanwhile).toEqual([true, true, true, false, false]);
    expect(
      logged.filter((message) => message.startsWith('the rate limit store is unavailable')),
    ).toHaveLength(1);
    expect(await backend.counted('few', key)).toBe(0);
    await proxy.restore();
    // The process refuses this key for a minute; the store has no entry for it.
    await expect.poll(() => taken(limiter, 'few', key)).toBe(true);
    expect(await backend.counted('few', key)).toBe(1);
  });

  test('respond in a network that drops everything', async () => {
    const { proxy, limiter } = await interruptible();
    const key = randomUUID();
    expect(await taken(limiter, 'few', key)).toBe(true);
    proxy.freeze();
    const answers = await Promise.all(Array.from({ length: 10 }, () => taken(limiter, 'few', key)));
    expect(answers.filter(Boolean)).toHaveLength(3);
    // If each call waited for the store, the test would time out.
    for (let calls = 0; calls < 100; calls += 1) await limiter.consume('few', key);
    await proxy.disconnect();
    await proxy.restore();
    const other = randomUUID();
    await expect
      .poll(async () => (await limiter.consume('few', other)) && backend.counted('few', other))
      .toBeGreaterThan(0);
  });

  test('a store that is unreachable from the start counts as an outage', async () => {
    const { proxy, limiter } = await interruptible();
    await proxy.disconnect();
    expect(await taken(limiter, 'few', 'x')).toBe(true);
  });

  test('can be closed before the first call', async () => {
    const limiter = backend.open({ url: backend.url, limits, log: () => undefined });
    await expect(limiter.close()).resolves.toBeUndefined();
  });
}
