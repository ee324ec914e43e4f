import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createRedisBus } from '../../src/platform/bus/redis.ts';
import { packMessage } from '../../src/platform/bus/payloads.ts';
import { createRedisLimiter } from '../../src/platform/rate-limits/redis.ts';
import { createRedisQueues } from '../../src/platform/queues/redis.ts';
import { buildJob } from '../integration/platform/queue-contract.ts';
import { startTestRedisCluster, type TestRedisCluster } from '../support/servers/redis/cluster.ts';
import { describeWithRedis } from '../support/servers/redis/server.ts';

const waitOptions = { timeout: 60_000, interval: 20 };
const log = () => undefined;

await describeWithRedis('on a Redis Cluster of three masters and their replicas', () => {
  let redis: TestRedisCluster;
  beforeAll(async () => {
    redis = await startTestRedisCluster();
  });
  afterAll(() => redis.stop());

  async function openBus() {
    const bus = createRedisBus({ url: redis.url, prefix: 'test:', log });
    onTestFinished(() => bus.close());
    await vi.waitFor(() => expect(bus.isHealthy()).toBe(true), waitOptions);
    return bus;
  }

  async function openQueues() {
    const queues = createRedisQueues({ url: redis.url, prefix: randomUUID(), log });
    onTestFinished(() => queues.close());
    await queues.ping();
    return queues;
  }

  test('the bus keeps the order of what one process says, over whichever channel', async () => {
    const [listener, ...speakers] = await Promise.all([openBus(), openBus(), openBus(), openBus()]);
    const heard: string[] = [];
    await listener.subscribe('rings', (body) => void heard.push(body));
    const numbers = Array.from({ length: 300 }, (_, number) => number);
    for (const [name, bus] of speakers.entries())
      for (const number of numbers) void bus.publish([{ topic: 'rings', body: `${name}:${number}` }]);
    await vi.waitFor(() => expect(heard).toHaveLength(900), waitOptions);
    for (const name of speakers.keys())
      expect(heard.filter((body) => body.startsWith(`${name}:`))).toEqual(
        numbers.map((number) => `${name}:${number}`),
      );
  });

  test('the bus goes on over other masters when one is killed, and hears its heir', async () => {
    const [listener, ...speakers] = await Promise.all([
      openBus(),
      openBus(),
      openBus(),
      openBus(),
      openBus(),
    ]);
    const heard = new Set<string>();
    await listener.subscribe('rings', (body) => void heard.add(body));
    const master = await redis.findMaster('test:bus:0');
    await master.kill9();
    await vi.waitFor(() => expect(listener.isHealthy()).toBe(false), waitOptions);
    await Promise.all(speakers.map((bus, name) => bus.publish([{ topic: 'rings', body: `${name}` }])));
    await vi.waitFor(() => expect(heard.size).toBe(speakers.length), waitOptions);
    await vi.waitFor(() => {
      for (const bus of [listener, ...speakers]) expect(bus.isHealthy()).toBe(true);
    }, waitOptions);
    await master.restart();
    await sayOn('test:bus:0', 'by the heir', heard);
  });

  test('the bus follows a channel whose slot goes to another master', async () => {
    const bus = await openBus();
    const heard = new Set<string>();
    await bus.subscribe('rings', (body) => void heard.add(body));
    await sayOn('test:bus:3', 'before', heard);
    await redis.moveSlot('test:bus:3');
    await sayOn('test:bus:3', 'after', heard);
    await vi.waitFor(() => expect(bus.isHealthy()).toBe(true), waitOptions);
  });

  /** Says it on one channel, past the service, until it was heard. */
  async function sayOn(channel: string, body: string, heard: ReadonlySet<string>): Promise<void> {
    const { client } = await redis.findMaster(channel);
    await vi.waitFor(async () => {
      await client.spublish(channel, packMessage({ topic: 'rings', body }));
      expect(heard).toContain(body);
    }, waitOptions);
  }

  test('each queue does its jobs, shows its depth and starts failed ones anew', async () => {
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

  test('a queue whose master is killed, or hangs, holds up nobody, and goes on with the heir', async () => {
    const prefix = randomUUID();
    const queues = createRedisQueues({ url: redis.url, prefix, log });
    onTestFinished(() => queues.close());
    const done = new Set<string>();
    await queues.consume('delivery', { concurrency: 2 }, async ({ id }) => void done.add(id));
    for (const away of ['kill9', 'freeze'] as const) {
      const master = await redis.findMaster(`{${prefix}:delivery}:delivery:wait`);
      await queues.enqueue([buildJob(`before-${away}`)]);
      await vi.waitFor(() => expect(done).toContain(`before-${away}`), waitOptions);
      await master[away]();
      // Refused, unless the heir was faster than this process; in any case it does not wait for one.
      await Promise.allSettled([queues.enqueue([buildJob(`meanwhile-${away}`)]), queues.ping()]);
      await vi.waitFor(() => queues.enqueue([buildJob(`after-${away}`)]), waitOptions);
      await vi.waitFor(() => expect(done).toContain(`after-${away}`), waitOptions);
      await queues.ping();
      if (away === 'freeze') await master.kill9();
      await master.restart();
    }
  });

  test('counts of limits are shared by all processes', async () => {
    const limits = { few: { points: 9, seconds: 60 } };
    const open = () => createRedisLimiter({ url: redis.url, prefix: 'test:limit:', limits, log });
    const limiters = [open(), open(), open()];
    onTestFinished(async () => void (await Promise.all(limiters.map((limiter) => limiter.close()))));
    const crowdOf = async (key: string) => {
      const crowd = Array.from({ length: 5 }, () => limiters.map((limiter) => limiter.consume('few', key)));
      return (await Promise.all(crowd.flat())).filter((balance) => balance?.isAllowed).length;
    };
    // New keys each time: a process that could not wait for a busy cluster counts for itself, and then with the others again.
    const allowed = () => Promise.all(Array.from({ length: 10 }, () => crowdOf(randomUUID())));
    await expect.poll(allowed, waitOptions).toEqual(Array.from({ length: 10 }, () => 9));
  });

  test('everything comes back after all nodes were gone, and can be closed meanwhile', async () => {
    const [bus, queues, other] = await Promise.all([openBus(), openQueues(), openQueues()]);
    const done: string[] = [];
    await queues.consume('delivery', { concurrency: 2 }, async ({ id }) => void done.push(id));
    await other.consume('delivery', { concurrency: 2 }, async () => undefined);
    await redis.findMaster('any');
    await Promise.all(redis.nodes.map((node) => node.kill9()));
    await vi.waitFor(() => expect(bus.isHealthy()).toBe(false), waitOptions);
    await expect(queues.enqueue([buildJob('refused')])).rejects.toThrow(/./);
    await expect(bus.publish([{ topic: 'rings', body: 'lost' }])).rejects.toThrow(/./);
    await other.close();
    await Promise.all(redis.nodes.map((node) => node.restart()));
    await vi.waitFor(() => expect(bus.isHealthy()).toBe(true), waitOptions);
    await vi.waitFor(() => queues.enqueue([buildJob('back')]), waitOptions);
    await vi.waitFor(() => expect(done).toContain('back'), waitOptions);
  });
});
