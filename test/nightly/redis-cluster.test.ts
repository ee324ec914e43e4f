import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createRedisBus } from '../../src/platform/bus/redis.ts';
import { packMessage } from '../../src/platform/bus/payloads.ts';
import { createRedisLimiter } from '../../src/platform/rate-limits/redis.ts';
import { createRedisQueues } from '../../src/platform/queues/redis.ts';
import { buildJob } from '../integration/platform/queue-contract.ts';
import { startTestRedisCluster } from '../support/servers/redis/cluster.ts';
import { describeWithRedis } from '../support/servers/redis/server.ts';
import { stopAfterTest, use } from '../support/use.ts';

const waitOptions = { timeout: 60_000, interval: 20 };
const log = () => undefined;

await describeWithRedis('on a Redis Cluster of three masters and their replicas', () => {
  const redis = use(startTestRedisCluster);

  async function openBus() {
    const bus = stopAfterTest(createRedisBus({ url: redis.url, prefix: 'test:', log }));
    await vi.waitFor(() => expect(bus.isHealthy()).toBe(true), waitOptions);
    return bus;
  }

  async function openQueues() {
    const queues = stopAfterTest(createRedisQueues({ url: redis.url, prefix: randomUUID(), log }));
    await queues.ping();
    return queues;
  }

  test('the bus keeps the order of the messages of one process, on every channel', async () => {
    const [listener, ...speakers] = await Promise.all([openBus(), openBus(), openBus(), openBus()]);
    const received: string[] = [];
    listener.subscribe('wakeups', (body) => void received.push(body));
    const numbers = Array.from({ length: 300 }, (_, number) => number);
    for (const [name, bus] of speakers.entries())
      for (const number of numbers) void bus.publish([{ topic: 'wakeups', body: `${name}:${number}` }]);
    await vi.waitFor(() => expect(received).toHaveLength(900), waitOptions);
    for (const name of speakers.keys())
      expect(received.filter((body) => body.startsWith(`${name}:`))).toEqual(
        numbers.map((number) => `${name}:${number}`),
      );
  });

  test('the bus continues on other masters when one is killed, and uses the new master', async () => {
    const [listener, ...speakers] = await Promise.all([
      openBus(),
      openBus(),
      openBus(),
      openBus(),
      openBus(),
    ]);
    const received = new Set<string>();
    listener.subscribe('wakeups', (body) => void received.add(body));
    const master = await redis.findMaster('test:bus:0');
    await master.kill9();
    await vi.waitFor(() => expect(listener.isHealthy()).toBe(false), waitOptions);
    await Promise.all(speakers.map((bus, name) => bus.publish([{ topic: 'wakeups', body: `${name}` }])));
    await vi.waitFor(() => expect(received.size).toBe(speakers.length), waitOptions);
    await vi.waitFor(() => {
      for (const bus of [listener, ...speakers]) expect(bus.isHealthy()).toBe(true);
    }, waitOptions);
    await master.restart();
    await sayOn('test:bus:0', 'by the heir', received);
  });

  test('the bus follows a channel whose slot moves to another master', async () => {
    const bus = await openBus();
    const received = new Set<string>();
    bus.subscribe('wakeups', (body) => void received.add(body));
    await sayOn('test:bus:3', 'before', received);
    await redis.moveSlot('test:bus:3');
    await sayOn('test:bus:3', 'after', received);
    await vi.waitFor(() => expect(bus.isHealthy()).toBe(true), waitOptions);
  });

  /** Publishes directly on one channel, without the service, until it is received. */
  async function sayOn(channel: string, body: string, received: ReadonlySet<string>): Promise<void> {
    const { client } = await redis.findMaster(channel);
    await vi.waitFor(async () => {
      await client.spublish(channel, packMessage({ topic: 'wakeups', body }));
      expect(received).toContain(body);
    }, waitOptions);
  }

  test('each queue runs its jobs, shows its depth and retries failed ones', async () => {
    const queues = await openQueues();
    const done: string[] = [];
    let fails = true;
    const handler = async ({ id }: { id: string }) => {
      if (id === 'bad' && fails) throw new Error('not now');
      done.push(id);
    };
    await queues.consume('delivery', { concurrency: 3 }, handler);
    await queues.consume('maintenance', { concurrency: 1 }, handler);
    const ids = Array.from({ length: 50 }, (_, number) => `job-${number}`);
    await queues.enqueue([
      ...ids.map((id) => buildJob(id)),
      buildJob('late', { delay_ms: 50 }),
      buildJob('other', { queue: 'maintenance' }),
      buildJob('bad', { attempts: 1 }),
    ]);
    await vi.waitFor(
      () => expect(done.toSorted()).toEqual([...ids, 'late', 'other'].toSorted()),
      waitOptions,
    );
    await vi.waitFor(
      async () =>
        expect(await queues.failures('delivery', 5)).toMatchObject([{ id: 'bad', error: 'not now' }]),
      waitOptions,
    );
    fails = false;
    expect(await queues.retry('delivery')).toBe(1);
    await vi.waitFor(() => expect(done).toContain('bad'), waitOptions);
    await vi.waitFor(async () => {
      for (const depth of await queues.depths())
        expect(depth).toMatchObject({ waiting: 0, active: 0, failed: 0 });
    }, waitOptions);
  });

  test('a queue whose master is killed, or hangs, blocks no request, and continues with the new master', async () => {
    const prefix = randomUUID();
    const queues = stopAfterTest(createRedisQueues({ url: redis.url, prefix, log }));
    const done = new Set<string>();
    await queues.consume('delivery', { concurrency: 2 }, async ({ id }) => void done.add(id));
    for (const away of ['kill9', 'freeze'] as const) {
      const master = await redis.findMaster(`{${prefix}:delivery}:delivery:wait`);
      await queues.enqueue([buildJob(`before-${away}`)]);
      await vi.waitFor(() => expect(done).toContain(`before-${away}`), waitOptions);
      await master[away]();
      // Fails, unless the failover was faster than this process; in any case it does not wait for one.
      await Promise.allSettled([queues.enqueue([buildJob(`meanwhile-${away}`)]), queues.ping()]);
      await vi.waitFor(() => queues.enqueue([buildJob(`after-${away}`)]), waitOptions);
      await vi.waitFor(() => expect(done).toContain(`after-${away}`), waitOptions);
      await queues.ping();
      if (away === 'freeze') await master.kill9();
      await master.restart();
    }
  });

  test('rate limits are shared by all processes', async () => {
    const limits = { few: { points: 9, seconds: 60 } };
    const open = () => createRedisLimiter({ url: redis.url, prefix: 'test:limit:', limits, log });
    const limiters = [open(), open(), open()];
    onTestFinished(async () => void (await Promise.all(limiters.map((limiter) => limiter.close()))));
    const crowdOf = async (key: string) => {
      const crowd = Array.from({ length: 5 }, () => limiters.map((limiter) => limiter.consume('few', key)));
      return (await Promise.all(crowd.flat())).filter((balance) => balance?.allowed === 1).length;
    };
    // New keys each time: a process that cannot wait for a busy cluster counts locally, and then in Redis again.
    const allowed = () => Promise.all(Array.from({ length: 10 }, () => crowdOf(randomUUID())));
    await expect.poll(allowed).toEqual(Array.from({ length: 10 }, () => 9));
  });

  test('everything recovers after an outage of all nodes, and can be closed during one', async () => {
    const [bus, queues, other] = await Promise.all([openBus(), openQueues(), openQueues()]);
    const done: string[] = [];
    await queues.consume('delivery', { concurrency: 2 }, async ({ id }) => void done.push(id));
    await other.consume('delivery', { concurrency: 2 }, async () => undefined);
    await redis.findMaster('any');
    await Promise.all(redis.nodes.map((node) => node.kill9()));
    await vi.waitFor(() => expect(bus.isHealthy()).toBe(false), waitOptions);
    await expect(queues.enqueue([buildJob('refused')])).rejects.toThrow(/./);
    await expect(bus.publish([{ topic: 'wakeups', body: 'lost' }])).rejects.toThrow(/./);
    await other.close();
    await Promise.all(redis.nodes.map((node) => node.restart()));
    await vi.waitFor(() => expect(bus.isHealthy()).toBe(true), waitOptions);
    await vi.waitFor(() => queues.enqueue([buildJob('back')]), waitOptions);
    await vi.waitFor(() => expect(done).toContain('back'), waitOptions);
  });
});
