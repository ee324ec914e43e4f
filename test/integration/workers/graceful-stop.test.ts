import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { describeWithRedis } from '../../support/redis-server.ts';
import { rest } from '../../support/rest-client.ts';
import { backends } from '../../support/service.ts';
import { connect } from '../../support/ws-client.ts';
import { expectExact } from './checker.ts';
import { type Cluster, type Conversation, startCluster, startConversation } from './cluster.ts';
import { follow } from './follower.ts';
import { startLoad } from './load.ts';

vi.setConfig({ testTimeout: 120_000 });

const clean = { code: 0, signal: null };

/**
 * Waits until senders stand in line for the thread at both processes, in each of which one waits for all, and answers what lets them
 * go on.
 */
async function holdThread({ env, core }: Cluster, { thread_id }: Conversation): Promise<() => Promise<void>> {
  const holder = new pg.Client({ connectionString: env['DATABASE_URL'] });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('begin');
  await holder.query('select from threads where id = $1 for update', [thread_id]);
  const text = `select from pg_stat_activity
    where datname = current_database() and application_name = 'ams' and wait_event_type = 'Lock'`;
  await vi.waitFor(async () => {
    expect((await core.database.query({ text }, [])).length).toBe(2);
  }, 20_000);
  return async () => void (await holder.query('rollback'));
}

await describeWithRedis('SIGTERM under load', () => {
  test.each(backends)(
    'an API answers what is under way and says 1001 to its sockets (%s)',
    async (backend) => {
      const cluster = await startCluster(backend);
      onTestFinished(() => cluster.stop());
      const [stopping, staying] = await Promise.all([cluster.api(), cluster.api(), cluster.worker()]);
      const talk = await startConversation(cluster.core, staying.url);
      let inTurn = [stopping.url, staying.url];
      const load = startLoad(talk, () => inTurn);
      const follower = await follow(talk.members[1], () => [stopping.url, staying.url]);
      await load.more(50);
      const release = await holdThread(cluster, talk);
      // A balancer sends nothing more to a process that stops.
      inTurn = [staying.url];
      const ended = stopping.terminate();
      expect(await follower.firstClose).toMatchObject({ code: 1001 });
      await release();
      expect(await ended, stopping.log()).toEqual(clean);
      await load.more(50);
      await load.finish();
      load.expectSmooth();
      await follower.until(load.acknowledged.length);
      expect([follower.repeated(), follower.connections()]).toEqual([0, 2]);
      await expectExact({ core: cluster.core, url: staying.url }, talk, load.acknowledged);
    },
  );

  test('an API serves on while balancers are told to go elsewhere, unless it is in a hurry', async () => {
    const cluster = await startCluster('postgres');
    onTestFinished(() => cluster.stop());
    const api = await cluster.api({ DRAIN_SECONDS: '300' });
    const [ann, bob] = (await startConversation(cluster.core, api.url)).members;
    const socket = await connect(api.url, { token: bob.token });
    const path = `events?cursor=${ann.start}&wait=30`;
    const waiting = rest('GET', `${api.url}/v1/${path}`, { token: ann.token });

    const ended = api.terminate();
    await vi.waitFor(async () => {
      const ready = await fetch(`${api.url}/readyz`);
      expect([ready.status, await ready.json()]).toMatchObject([503, { status: 'stopping' }]);
    }, 20_000);
    const opening = { with_handle: bob.handle, initial_message: 'still here' };
    const made = await rest('POST', `${api.url}/v1/threads`, { token: ann.token, body: opening });
    expect([made.status, made.headers.get('connection')]).toEqual([201, 'close']);
    const heard = await socket.next(({ type }) => type === 'message.created');
    expect(heard.data).toMatchObject({ content: 'still here' });
    expect((await waiting).body.events).not.toEqual([]);

    expect(await api.interrupt(), api.log()).toEqual(clean);
    expect(await ended).toEqual(clean);
    expect(await socket.closed).toMatchObject({ code: 1001 });
  });

  test.each(backends)('a worker finishes the jobs in its hands (%s)', async (backend) => {
    const cluster = await startCluster(backend);
    onTestFinished(() => cluster.stop());
    const [api, worker] = await Promise.all([cluster.api(), cluster.worker()]);
    const talk = await startConversation(cluster.core, api.url);
    const load = startLoad(talk, () => [api.url]);
    await load.more(100);
    expect(await worker.terminate(), worker.log()).toEqual(clean);
    // What it had taken is done: nothing waits for its owner to be declared dead.
    const depths = await cluster.core.queues.depths();
    expect(depths.filter(({ active, failed }) => active + failed > 0)).toEqual([]);
    await cluster.worker();
    await load.more(50);
    await load.finish();
    load.expectSmooth();
    await expectExact({ core: cluster.core, url: api.url }, talk, load.acknowledged);
  });
});
