import { expect, onTestFinished, test } from 'vitest';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import type { Backend } from '../../support/service.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { expectExactlyOnce } from '../../support/cluster/delivery-check.ts';
import { type ServiceCluster, startTestCluster, startConversation } from '../../support/cluster/cluster.ts';
import { startMessageLoad } from '../../support/cluster/message-load.ts';
import { connectTo, queryOnce } from '../../support/servers/postgres/database.ts';

/** Blocks the API from the queue only. */
interface Barrier {
  env: Record<string, string>;
  close(): Promise<void>;
  /** To run after the API is killed: nothing that it sent may still reach the queue, and the queue is reachable again. */
  open(): Promise<void>;
}

async function redisBarrier({ redis }: ServiceCluster): Promise<Barrier> {
  const proxy = await startTcpProxy(redis.url);
  onTestFinished(() => proxy.close());
  return {
    env: { REDIS_URL: proxy.url },
    close: async () => proxy.freeze(),
    async open() {
      await proxy.disconnect();
      await proxy.restore();
    },
  };
}

/** Locks the table of the jobs; on release ends the sessions that wait for it, because they outlive their clients. */
async function postgresBarrier({ env }: ServiceCluster): Promise<Barrier> {
  const client = await connectTo(env['DATABASE_URL']);
  return {
    env: {},
    async close() {
      await client.query('begin');
      await client.query('lock table ams_queues.job in access exclusive mode');
    },
    async open() {
      await client.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`);
      await client.query('rollback');
    },
  };
}

/** The jobs in the outbox: a row can have several of one commit. */
async function countPendingJobs({ env }: ServiceCluster): Promise<number> {
  const sql = 'select coalesce(sum(1 + coalesce(cardinality(more_ids), 0)), 0)::int as jobs from outbox';
  return (await queryOnce<{ jobs: number }>(env['DATABASE_URL'], sql)).rows[0]?.jobs ?? 0;
}

function apiKill(backend: Backend, makeBarrier: (cluster: ServiceCluster) => Promise<Barrier>): void {
  test(`an API killed between commit and enqueue (${backend}): the sweep enqueues the jobs`, async () => {
    const cluster = await startTestCluster(backend);
    const { core } = cluster;
    const barrier = await makeBarrier(cluster);
    let api = await cluster.startApi(barrier.env);
    const talk = await startConversation(core, api.url);
    const load = startMessageLoad(talk, () => [api.url]);
    await load.waitForMore(50);
    await barrier.close();
    await load.waitForMore(100);
    await api.kill9();
    // No worker has run yet: a job is pending for each message, and those after the barrier are in no queue.
    expect(await countPendingJobs(cluster)).toBeGreaterThanOrEqual(load.acknowledged.length);
    await barrier.open();
    [api] = await Promise.all([cluster.startApi(barrier.env), cluster.startWorker()]);
    await load.waitForMore(50);
    await load.finish();
    await expectExactlyOnce({ core, url: api.url }, talk, load.acknowledged);
  });
}

apiKill('postgres', postgresBarrier);
await describeWithRedis('with Redis', () => {
  apiKill('redis', redisBarrier);

  test('an API killed repeatedly under load: client retries create no duplicates', async () => {
    const cluster = await startTestCluster('redis');
    let [api] = await Promise.all([cluster.startApi(), cluster.startWorker()]);
    const talk = await startConversation(cluster.core, api.url);
    const load = startMessageLoad(talk, () => [api.url]);
    for (let kills = 0; kills < 3; kills += 1) {
      await load.waitForMore(25);
      await api.kill9();
      api = await cluster.startApi();
    }
    await load.waitForMore(25);
    await load.finish();
    expect(load.unanswered()).toBeGreaterThan(0);
    expect(load.errors).toEqual([]);
    await expectExactlyOnce({ core: cluster.core, url: api.url }, talk, load.acknowledged);
  });
});

function workerKill(backend: Backend): void {
  test(`a worker killed with running jobs (${backend}): another one runs them`, async () => {
    const cluster = await startTestCluster(backend);
    const [api, doomed] = await Promise.all([cluster.startApi(), cluster.startWorker()]);
    const talk = await startConversation(cluster.core, api.url);
    const load = startMessageLoad(talk, () => [api.url]);
    await load.waitForMore(100);
    doomed.freeze();
    await load.waitForMore(100);
    await doomed.kill9();
    await load.waitForMore(100);
    expect((await cluster.core.db.outbox.readAge()).rows).toBeGreaterThan(0);
    await cluster.startWorker();
    await load.waitForMore(50);
    await load.finish();
    load.expectNoErrors();
    await expectExactlyOnce({ core: cluster.core, url: api.url }, talk, load.acknowledged);
  });
}

workerKill('postgres');

await describeWithRedis('with Redis', () => workerKill('redis'));
