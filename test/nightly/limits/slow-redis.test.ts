import { expect, onTestFinished, test, vi } from 'vitest';
import { followMessages } from '../../clients/message-follower.ts';
import { startConversation, startServiceCluster } from '../../support/cluster/cluster.ts';
import { expectExactlyOnce } from '../../support/cluster/delivery-check.ts';
import { startMessageLoad } from '../../support/cluster/message-load.ts';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';

vi.setConfig({ testTimeout: 120_000 });

await describeWithRedis('a Redis that answers after two seconds', () => {
  test('refuses no call, loses no event and is reported', async () => {
    const cluster = await startServiceCluster('redis', {
      RATE_LIMITS: 'send_message=100000/60,default=100000/60',
    });
    onTestFinished(() => cluster.stop());
    const redis = await startTcpProxy(cluster.redis.url);
    onTestFinished(() => redis.close());
    const env = { REDIS_URL: redis.url };
    const [api] = await Promise.all([cluster.startApi(env), cluster.startWorker(env)]);
    const talk = await startConversation(cluster.core, api.url);
    const follower = await followMessages(talk.members[1], () => [api.url]);
    const load = startMessageLoad(talk, () => [api.url]);
    const health = async () => (await fetch(`${api.url}/readyz`)).json();
    await load.waitForMore(50);

    redis.delayAnswers(2_000);
    await load.waitForMore(200);
    await expect.poll(health).toMatchObject({ status: 'degraded', parts: { queues: 'slow' } });
    expect(api.log()).toMatch(/"level":40.*the rate limit store/);
    await follower.waitUntil(load.acknowledged.length);

    redis.delayAnswers(0);
    await expect.poll(health).toMatchObject({ status: 'ok' });
    await load.waitForMore(50);
    await load.finish();
    load.expectNoErrors();
    await follower.waitUntil(load.acknowledged.length);
    expect([follower.repeated(), follower.connections()]).toEqual([0, 1]);
    await expectExactlyOnce({ core: cluster.core, url: api.url }, talk, load.acknowledged);
  });
});
