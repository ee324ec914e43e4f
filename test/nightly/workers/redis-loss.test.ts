import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { expectExactlyOnce } from '../../support/cluster/delivery-check.ts';
import { startTestCluster, startConversation } from '../../support/cluster/cluster.ts';
import { followMessages } from '../../clients/message-follower.ts';
import { startMessageLoad } from '../../support/cluster/message-load.ts';

async function start() {
  const cluster = await startTestCluster('redis');
  const [api] = await Promise.all([cluster.startApi(), cluster.startWorker()]);
  const talk = await startConversation(cluster.core, api.url);
  const addresses = () => [api.url];
  const follower = await followMessages(talk.members[1], addresses);
  const load = startMessageLoad(talk, addresses);

  /** Every send was acknowledged quickly, the socket stayed open and received everything, and no job is pending. */
  async function expectUntouched(): Promise<void> {
    await load.finish();
    load.expectNoErrors();
    await follower.waitUntil(load.acknowledged.length);
    expect(follower.messages()).toEqual(inOrder(load.acknowledged));
    expect([follower.repeated(), follower.connections()]).toEqual([0, 1]);
    await expectExactlyOnce({ core: cluster.core, url: api.url }, talk, load.acknowledged);
  }
  return { cluster, load, follower, expectUntouched };
}

function inOrder(messages: readonly { id: string; sequence: number }[]): string[] {
  return messages.toSorted((one, other) => one.sequence - other.sequence).map(({ id }) => id);
}

await describeWithRedis('Redis is lost under load', () => {
  test('flushed repeatedly', async () => {
    const { cluster, load, expectUntouched } = await start();
    const redis = new Redis(cluster.redis.url);
    onTestFinished(() => redis.disconnect());
    for (let rounds = 0; rounds < 10; rounds += 1) {
      await load.waitForMore(30);
      await redis.flushall();
    }
    await expectUntouched();
  });

  test('killed, unavailable for a while, and started again empty', async () => {
    const { cluster, load, follower, expectUntouched } = await start();
    for (let rounds = 0; rounds < 2; rounds += 1) {
      await load.waitForMore(50);
      await cluster.redis.kill9();
      await load.waitForMore(100);
      // Live delivery continues without Redis: polling replaces the wake-ups.
      await follower.waitUntil(load.acknowledged.length);
      await cluster.redis.restart();
      await load.waitForMore(50);
    }
    await expectUntouched();
  });
});
