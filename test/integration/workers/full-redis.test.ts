import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { requestRest } from '../../clients/rest.ts';
import { startService } from '../../support/service.ts';
import { runCli } from '../../clients/cli.ts';

await describeWithRedis('a Redis that is full', () => {
  test('accepts every send and warns the operators', async () => {
    const service = await startService({ backend: 'redis' });
    onTestFinished(async () => void (await service.stop()));
    const { core, url, api } = service;
    const { REDIS_URL = '', DATABASE_URL, SECRET_KEY } = core.config;
    const redis = new Redis(REDIS_URL);
    onTestFinished(() => redis.disconnect());
    const [ann, bob] = [await service.agent(), await service.agent()];
    const ready = async () => {
      const answer = await fetch(`${url}/readyz`);
      return [answer.status, await answer.json()];
    };
    const queues = async () => {
      const { out } = await runCli({ REDIS_URL, DATABASE_URL, SECRET_KEY }, ['doctor']);
      return /^.* queues .*$/m.exec(out)?.[0];
    };
    expect(await queues()).toMatch(/^ok /);

    await redis.config('SET', 'maxmemory', '1');
    const body = { participants: [bob.handle], initial_message: 'into the outbox' };
    const made = await requestRest('POST', `${api}/threads`, { token: ann.token, body });
    expect(made.status).toBe(201);
    const full = { status: 'degraded', parts: { database: 'ok', queues: 'failed', bus: 'ok' } };
    await expect.poll(ready).toMatchObject([200, full]);
    expect(await queues()).toMatch(/^FAIL .*Redis takes no jobs: OOM /);

    await redis.config('SET', 'maxmemory', '0');
    await expect.poll(ready).toMatchObject([200, { status: 'ok' }]);
    expect(await queues()).toMatch(/^ok /);

    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    expect(await queues()).toMatch(/^ok /);
    await redis.config('SET', 'maxmemory', '1gb');
    expect(await queues()).toMatch(/^FAIL .*Redis may remove jobs: its maxmemory-policy is allkeys-lru/);
  });
});
