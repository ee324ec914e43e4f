import { onTestFinished, test } from 'vitest';
import { startTestSentinels } from '../support/redis-sentinel.ts';
import { describeWithRedis } from '../support/redis-server.ts';
import { outliveMaster, startServiceOn } from './redis-failover.ts';

await describeWithRedis('a service on a Redis that sentinels watch', () => {
  test('loses nothing with the master killed under load', async () => {
    const redis = await startTestSentinels();
    onTestFinished(() => redis.stop());
    const house = await startServiceOn(redis.url);
    await outliveMaster(house, () => redis.master());
  });
});
