import { onTestFinished, test } from 'vitest';
import { startTestRedisCluster } from '../support/redis-cluster.ts';
import { describeWithRedis } from '../support/redis-server.ts';
import { outliveMaster, startServiceOn } from './redis-failover.ts';

await describeWithRedis('a service on a Redis Cluster of three masters', () => {
  test('loses nothing with a master killed under load', async () => {
    const redis = await startTestRedisCluster();
    onTestFinished(() => redis.stop());
    const house = await startServiceOn(redis.url);
    await outliveMaster(house, () => redis.masterOf('{ams:delivery}:delivery:wait'));
  });
});
