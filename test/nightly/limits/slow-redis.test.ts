import { expect, onTestFinished, test } from 'vitest';
import { startTestCluster } from '../../support/cluster/cluster.ts';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { startWatchedLoad } from './watched-load.ts';

await describeWithRedis('a Redis that answers after two seconds', () => {
  test('refuses no call, loses no event and is reported', async () => {
    const cluster = await startTestCluster('redis', {
      RATE_LIMITS: 'send_message=100000/60,default=100000/60,loop=100000/60',
    });
    const redis = await startTcpProxy(cluster.redis.url);
    onTestFinished(() => redis.close());
    const env = { REDIS_URL: redis.url };
    const [api] = await Promise.all([cluster.startApi(env), cluster.startWorker(env)]);
    const { load, health, waitForFollower, expectEverything } = await startWatchedLoad(cluster, api);

    redis.delayAnswers(2_000);
    await load.waitForMore(200);
    await expect.poll(health).toMatchObject({ status: 'degraded', parts: { queues: 'slow' } });
    expect(api.log()).toMatch(/"level":40.*the rate limit store/);
    await waitForFollower();

    redis.delayAnswers(0);
    await expect.poll(health).toMatchObject({ status: 'ok' });
    await expectEverything();
    load.expectNoErrors();
  });
});
