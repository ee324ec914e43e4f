import { onTestFinished, test } from 'vitest';
import { startTestRedisCluster } from '../support/servers/redis/cluster.ts';
import { describeWithRedis } from '../support/servers/redis/server.ts';
import { expectToSurviveFailover, startServiceOn } from './redis-failover.ts';

await describeWithRedis('a service on a Redis Cluster of three masters', () => {
  test('loses nothing when a master is killed under load', async () => {
    const redis = await startTestRedisCluster();
    onTestFinished(() => redis.stop());
    const service = await startServiceOn(redis.url);
    await expectToSurviveFailover(service, () => redis.findMaster('{ams:delivery}:delivery:wait'));
  });
});
