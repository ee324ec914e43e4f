import { Redis } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createRedisQueues } from '../../../src/platform/queues/redis.ts';
import { describeWithRedis, startTestRedis, type TestRedis } from '../../support/servers/redis/server.ts';
import {
  buildJob,
  type QueueBackend,
  testQueueContract,
  waitOptions,
} from '../../integration/platform/queue-contract.ts';
import { stopAfterTest } from '../../support/use.ts';

await describeWithRedis('the job queues in Redis', () => {
  let redis: TestRedis;
  const start = async (): Promise<QueueBackend> => {
    redis = await startTestRedis({ persist: true });
    return {
      kind: 'redis',
      url: redis.url,
      open: ({ url, namespace, log }) => createRedisQueues({ url, prefix: namespace, log }),
      stop: () => redis.stop(),
    };
  };
  testQueueContract(start);

  test('uses only the configured database', async () => {
    const queues = stopAfterTest(
      createRedisQueues({ url: `${redis.url}/9999`, prefix: 'elsewhere', log: () => undefined }),
    );
    await expect(queues.ping()).rejects.toThrow(/DB index is out of range/);
    await expect(queues.enqueue([buildJob('stray')])).rejects.toThrow(/not connected/);
  });

  test('reports a server that responds but is full or has become a replica', async () => {
    const server = stopAfterTest(await startTestRedis());
    const queues = stopAfterTest(
      createRedisQueues({ url: server.url, prefix: 'refused', log: () => undefined }),
    );
    const client = new Redis(server.url);
    onTestFinished(() => client.disconnect());
    await queues.check();
    await client.config('SET', 'maxmemory', '1');
    await expect(queues.check()).rejects.toThrow(/^Redis takes no jobs: OOM /);
    await queues.ping();
    await client.config('SET', 'maxmemory', '0');
    await queues.check();
    await client.replicaof('127.0.0.1', redis.port);
    await expect(queues.check()).rejects.toThrow(/^Redis takes no jobs: READONLY /);
    await client.replicaof('NO', 'ONE');
    await vi.waitFor(() => queues.check(), waitOptions);
  });

  test('continues after FLUSHALL', async () => {
    const queues = stopAfterTest(
      createRedisQueues({ url: redis.url, prefix: 'flushed', log: () => undefined }),
    );
    await queues.ping();
    const done: string[] = [];
    await queues.consume('delivery', { concurrency: 2 }, async ({ id }) => void done.push(id));
    await queues.enqueue([buildJob('before')]);
    await vi.waitFor(() => expect(done).toEqual(['before']), waitOptions);
    const client = new Redis(redis.url);
    await client.flushall();
    await client.quit();
    await queues.enqueue([buildJob('after-1'), buildJob('after-2')]);
    await vi.waitFor(() => expect(done.toSorted()).toEqual(['after-1', 'after-2', 'before']), waitOptions);
  });

  test('loses no persisted job when Redis is killed and restarted', async () => {
    const client = new Redis(redis.url);
    await client.config('SET', 'appendfsync', 'always');
    await client.quit();
    const queues = stopAfterTest(
      createRedisQueues({ url: redis.url, prefix: 'killed', log: () => undefined }),
    );
    await queues.ping();
    const done = new Set<string>();
    let hold = true;
    await queues.consume('delivery', { concurrency: 2 }, async ({ id }) => {
      await vi.waitFor(() => expect(hold).toBe(false), waitOptions);
      done.add(id);
    });
    const ids = Array.from({ length: 30 }, (_, n) => `kept-${n}`);
    await queues.enqueue(ids.map((id) => buildJob(id)));
    await redis.kill9();
    await expect(queues.enqueue([buildJob('refused')])).rejects.toThrow(/./);
    hold = false;
    await redis.restart();
    await vi.waitFor(() => expect([...done].toSorted()).toEqual(ids.toSorted()), {
      ...waitOptions,
      timeout: 25_000,
    });
    await queues.ping();
    await queues.enqueue([buildJob('later')]);
    await vi.waitFor(() => expect(done).toContain('later'), waitOptions);
  });
});
