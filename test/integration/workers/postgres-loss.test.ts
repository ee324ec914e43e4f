import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { RestAnswer } from '../../support/rest-client.ts';
import { describeWithRedis } from '../../support/redis-server.ts';
import { backends } from '../../support/service.ts';
import { tcpProxy } from '../../support/tcp-proxy.ts';
import { expectExact } from './checker.ts';
import { startCluster, startConversation } from './cluster.ts';
import { follow } from './follower.ts';
import { startLoad } from './load.ts';

vi.setConfig({ testTimeout: 120_000 });

/** What the contract says of a service that cannot answer just now. */
function expectUnavailable({ status, headers, body }: RestAnswer): void {
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
  test.each(backends)('every session is ended, many times (%s)', async (backend) => {
    const cluster = await startCluster(backend);
    onTestFinished(() => cluster.stop());
    const killer = new pg.Client({ connectionString: cluster.env['DATABASE_URL'] });
    await killer.connect();
    onTestFinished(() => killer.end());
    const [api, worker] = await Promise.all([cluster.api(), cluster.worker()]);
    const talk = await startConversation(cluster.core, api.url);
    const load = startLoad(talk, () => [api.url]);
    const follower = await follow(talk.members[1], () => [api.url]);
    for (let rounds = 0; rounds < 25; rounds += 1) {
      await load.more(8);
      await killer.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`);
    }
    await load.more(20);
    await load.finish();
    load.refusals.forEach(expectUnavailable);
    expect(load.unanswered(), api.log()).toBe(0);
    await follower.until(load.acknowledged.length);
    expect(follower.repeated()).toBe(0);
    await expectExact({ core: cluster.core, url: api.url }, talk, load.acknowledged);
    const endings = await Promise.all([api.terminate(), worker.terminate()]);
    expect(endings.map(({ code }) => code)).toEqual([0, 0]);
  });

  test('the way to it is cut: 503 until it is back, and nothing doubled', async () => {
    const cluster = await startCluster('redis');
    onTestFinished(() => cluster.stop());
    const proxy = await tcpProxy(cluster.env['DATABASE_URL'] ?? '');
    onTestFinished(() => proxy.close());
    const env = { DATABASE_URL: proxy.url };
    const [api] = await Promise.all([cluster.api(env), cluster.worker(env)]);
    const talk = await startConversation(cluster.core, api.url);
    const load = startLoad(talk, () => [api.url]);
    for (let rounds = 0; rounds < 3; rounds += 1) {
      await load.more(50);
      const before = load.refusals.length;
      await proxy.cut();
      await load.until(() => load.refusals.length >= before + 8);
      await proxy.restore();
    }
    await load.more(50);
    await load.finish();
    load.refusals.forEach(expectUnavailable);
    expect(load.unanswered(), api.log()).toBe(0);
    await expectExact({ core: cluster.core, url: api.url }, talk, load.acknowledged);
  });
});
