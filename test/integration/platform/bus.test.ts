import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import type { Bus } from '../../../src/platform/bus/bus.ts';
import { createPostgresBus } from '../../../src/platform/bus/postgres.ts';
import { createRedisBus } from '../../../src/platform/bus/redis.ts';
import type { ErrorLog } from '../../../src/shared/error-log.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';
import { describeWithRedis, startTestRedis } from '../../support/servers/redis/server.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { stopAfterTest, use } from '../../support/use.ts';

interface Backend {
  url: string;
  open(options: { url: string; installation: string; log: ErrorLog }): Bus;
  stop(): Promise<void>;
}

await describeWithRedis('the bus over Redis', () =>
  testBus(async () => {
    const redis = await startTestRedis();
    return {
      url: redis.url,
      open: ({ url, installation, log }) => createRedisBus({ url, prefix: `${installation}:`, log }),
      stop: () => redis.stop(),
    };
  }),
);

describe('the bus over PostgreSQL', () =>
  testBus(async () => {
    const database = await createTestDatabase();
    return {
      url: database.url,
      open: ({ url, installation, log }) => createPostgresBus({ url, channel: installation, log }),
      stop: () => database.drop(),
    };
  }));

function testBus(start: () => Promise<Backend>): void {
  const backend = use(() => start());

  const soon = { timeout: 10_000, interval: 10 };

  async function openBus(
    options: { installation?: string; url?: string; log?: ErrorLog } = {},
  ): Promise<Bus> {
    const { installation = randomUUID(), url = backend.url, log = () => undefined } = options;
    const bus = stopAfterTest(backend.open({ url, installation, log }));
    await vi.waitFor(() => expect(bus.isHealthy()).toBe(true), soon);
    return bus;
  }

  /** Collects messages. The last message of every test is `end`, so that no test waits for silence. */
  async function collect(bus: Bus, topic: string): Promise<{ bodies: string[]; stop: () => void }> {
    const bodies: string[] = [];
    const stop = bus.subscribe(topic, (body) => bodies.push(body));
    return { bodies, stop };
  }

  test('delivers the messages of a topic in the order they were published', async () => {
    const bus = await openBus();
    const even = await collect(bus, 'agent/even');
    const odd = await collect(bus, 'agent/odd');
    const numbers = Array.from({ length: 200 }, (_, n) => n);
    const messages = numbers.map((n) => ({ topic: n % 2 ? 'agent/odd' : 'agent/even', body: String(n) }));
    for (let at = 0; at < messages.length; at += 7) void bus.publish(messages.slice(at, at + 7));
    await vi.waitFor(() => expect(even.bodies.length + odd.bodies.length).toBe(200), soon);
    expect(even.bodies).toEqual(numbers.filter((n) => n % 2 === 0).map(String));
    expect(odd.bodies).toEqual(numbers.filter((n) => n % 2 === 1).map(String));
  });

  test('reaches every handler in every process, and no other topic or instance', async () => {
    const installation = randomUUID();
    const here = await openBus({ installation });
    const there = await openBus({ installation });
    const stranger = await collect(await openBus(), 'agent/1');
    const other = await collect(here, 'agent/2');
    const handlers = [
      await collect(here, 'agent/1'),
      await collect(here, 'agent/1'),
      await collect(there, 'agent/1'),
    ];
    await here.publish([{ topic: 'agent/1', body: 'wake' }]);
    await vi.waitFor(() => handlers.forEach(({ bodies }) => expect(bodies).toEqual(['wake'])), soon);
    expect([...stranger.bodies, ...other.bodies]).toEqual([]);
  });

  test('carries large bodies and non-ASCII characters unchanged', async () => {
    const bus = await openBus();
    const bodies = Array.from({ length: 50 }, (_, n) => `${n}:"'\\\n${'ü€😀'.repeat(n * 8)}`);
    bodies.push('x'.repeat(4_096));
    const received = await collect(bus, 'tokens');
    await bus.publish(bodies.map((body) => ({ topic: 'tokens', body })));
    await vi.waitFor(() => expect(received.bodies.length).toBe(bodies.length), soon);
    expect(received.bodies).toEqual(bodies);
  });

  test('ends one handler without the others, and receives nothing after all have ended', async () => {
    const bus = await openBus();
    const first = await collect(bus, 'agent/1');
    const second = await collect(bus, 'agent/1');
    const sentinel = await collect(bus, 'agent/2');
    first.stop();
    first.stop();
    await bus.publish([{ topic: 'agent/1', body: 'a' }]);
    await vi.waitFor(() => expect(second.bodies).toEqual(['a']), soon);
    second.stop();
    await bus.publish(['agent/1', 'agent/2'].map((topic) => ({ topic, body: 'end' })));
    await vi.waitFor(() => expect(sentinel.bodies).toEqual(['end']), soon);
    const again = await collect(bus, 'agent/1');
    await bus.publish([{ topic: 'agent/1', body: 'b' }]);
    await vi.waitFor(() => expect(again.bodies).toEqual(['b']), soon);
    expect([first.bodies, second.bodies]).toEqual([[], ['a']]);
  });

  test('reports a handler that throws and calls the next one', async () => {
    const log = vi.fn<ErrorLog>();
    const bus = await openBus({ log });
    bus.subscribe('tokens', () => {
      throw new Error('spilled');
    });
    const next = await collect(bus, 'tokens');
    await bus.publish([{ topic: 'tokens', body: 'revoked' }]);
    await vi.waitFor(() => expect(next.bodies).toEqual(['revoked']), soon);
    expect(log).toHaveBeenCalledWith('a bus handler failed', new Error('spilled'));
  });

  test('fails fast during an outage, and restores subscriptions from before and during it', async () => {
    const proxy = stopAfterTest(await startTcpProxy(backend.url));
    const log = vi.fn<ErrorLog>();
    const bus = await openBus({ url: proxy.url, log });
    const before = await collect(bus, 'agent/before');
    const ended = await collect(bus, 'agent/ended');
    await proxy.disconnect();
    await vi.waitFor(() => expect(bus.isHealthy()).toBe(false), soon);
    await expect(bus.publish([{ topic: 'agent/before', body: 'lost' }])).rejects.toThrow(/./);
    const meanwhile = await collect(bus, 'agent/meanwhile');
    ended.stop();
    await proxy.restore();
    await vi.waitFor(() => expect(bus.isHealthy()).toBe(true), soon);
    const topics = ['agent/ended', 'agent/before', 'agent/meanwhile'];
    await bus.publish(topics.map((topic) => ({ topic, body: 'back' })));
    await vi.waitFor(() => expect([...before.bodies, ...meanwhile.bodies]).toEqual(['back', 'back']), soon);
    expect(ended.bodies).toEqual([]);
    expect(log).toHaveBeenCalled();
  });

  test('detects a stalled connection', async () => {
    const proxy = stopAfterTest(await startTcpProxy(backend.url));
    const bus = await openBus({ url: proxy.url });
    const received = await collect(bus, 'agent/1');
    proxy.freeze();
    await expect(bus.publish([{ topic: 'agent/1', body: 'lost' }])).rejects.toThrow(/./);
    await vi.waitFor(() => expect(bus.isHealthy()).toBe(false), { ...soon, timeout: 15_000 });
    await proxy.disconnect();
    await proxy.restore();
    await vi.waitFor(() => expect(bus.isHealthy()).toBe(true), soon);
    await bus.publish([{ topic: 'agent/1', body: 'back' }]);
    await vi.waitFor(() => expect(received.bodies).toEqual(['back']), soon);
  });
}
