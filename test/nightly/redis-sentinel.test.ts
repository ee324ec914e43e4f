import { onTestFinished, test } from 'vitest';
import { startTestSentinels } from '../support/servers/redis/sentinel.ts';
import { describeWithRedis } from '../support/servers/redis/server.ts';
import { expectToSurviveFailover, startServiceOn } from './redis-failover.ts';

await describeWithRedis('a service on a Redis that sentinels watch', () => {
  test('loses nothing when the master is killed under load', async () => {
    const redis = await startTestSentinels();
    onTestFinished(() => redis.stop());
    const service = await startServiceOn(redis.url);
    await expectToSurviveFailover(service, () => redis.master());
  });
});
