import { connectTo } from '../../support/servers/postgres/database.ts';
import { expect, onTestFinished, test } from 'vitest';
import type { RestResponse } from '../../clients/rest.ts';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { expectExactlyOnce } from '../../support/cluster/delivery-check.ts';
import { startTestCluster, startConversation } from '../../support/cluster/cluster.ts';
import { followMessages } from '../../clients/message-follower.ts';
import { startMessageLoad } from '../../support/cluster/message-load.ts';
import { backends } from '../../support/service.ts';

/** The API error of a service that is temporarily unavailable. */
function expectUnavailable({ status, headers, body }: RestResponse): void {
  expect({ status, retry_after: headers.get('retry-after'), body }).toEqual({
    status: 503,
    retry_after: expect.stringMatching(/^\d+$/),
    body: {
      error: {
        code: 'UNAVAILABLE',
        message: expect.any(String),
        request_id: headers.get('x-request-id'),
      },
    },
  });
}

await describeWithRedis('PostgreSQL goes away under load', () => {
  test.each(backends)(
    'clients recover when every database session is ended, many times (%s)',
    async (backend) => {
      const cluster = await startTestCluster(backend);
      const killer = await connectTo(cluster.env['DATABASE_URL']);
      const [api, worker] = await Promise.all([cluster.startApi(), cluster.startWorker()]);
      const talk = await startConversation(cluster.core, api.url);
      const load = startMessageLoad(talk, () => [api.url]);
      const follower = await followMessages(talk.members[1], () => [api.url]);
      for (let rounds = 0; rounds < 25; rounds += 1) {
        await load.waitForMore(8);
        await killer.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`);
      }
      await load.waitForMore(20);
      await load.finish();
      load.errors.forEach(expectUnavailable);
      expect(load.unanswered(), api.log()).toBe(0);
      await follower.waitUntil(load.acknowledged.length);
      expect(follower.repeated()).toBe(0);
      await expectExactlyOnce({ core: cluster.core, url: api.url }, talk, load.acknowledged);
      const endings = await Promise.all([api.terminate(), worker.terminate()]);
      expect(endings.map(({ code }) => code)).toEqual([0, 0]);
    },
  );

  test('while the connection is cut calls are 503, and there are no duplicates', async () => {
    const cluster = await startTestCluster('redis');
    const proxy = await startTcpProxy(cluster.env['DATABASE_URL'] ?? '');
    onTestFinished(() => proxy.close());
    const env = { DATABASE_URL: proxy.url };
    const [api] = await Promise.all([cluster.startApi(env), cluster.startWorker(env)]);
    const talk = await startConversation(cluster.core, api.url);
    const load = startMessageLoad(talk, () => [api.url]);
    for (let rounds = 0; rounds < 3; rounds += 1) {
      await load.waitForMore(50);
      const before = load.errors.length;
      await proxy.disconnect();
      await load.waitUntil(() => load.errors.length >= before + 8);
      await proxy.restore();
    }
    await load.waitForMore(50);
    await load.finish();
    load.errors.forEach(expectUnavailable);
    expect(load.unanswered(), api.log()).toBe(0);
    await expectExactlyOnce({ core: cluster.core, url: api.url }, talk, load.acknowledged);
  });
});
