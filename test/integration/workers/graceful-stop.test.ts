import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { beginErasure } from '../../../src/services/erasure.ts';
import { faultyS3, planned } from '../../support/faulty-s3.ts';
import { describeWithRedis } from '../../support/redis-server.ts';
import { rest } from '../../support/rest-client.ts';
import { backends, buildAgent } from '../../support/service.ts';
import { connect } from '../../support/ws-client.ts';
import { scanned, uploaded } from '../files/house.ts';
import { expectExact } from './checker.ts';
import { type Cluster, type Conversation, startCluster, startConversation } from './cluster.ts';
import { follow } from './follower.ts';
import { startLoad } from './load.ts';

vi.setConfig({ testTimeout: 120_000 });

const clean = { code: 0, signal: null };

/** Holds a thread. */
async function holdThread({ env, core }: Cluster, { thread_id }: Conversation) {
  const holder = new pg.Client({ connectionString: env['DATABASE_URL'] });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('begin');
  await holder.query('select from threads where id = $1 for update', [thread_id]);
  const text = `select from pg_stat_activity
    where datname = current_database() and application_name = 'ams' and wait_event_type = 'Lock'`;
  return {
    /** Resolves when somebody waits for it. */
    async awaited(): Promise<void> {
      await vi.waitFor(async () => {
        expect((await core.database.query({ text }, [])).length).toBeGreaterThan(0);
      }, 60_000);
    },
    release: () => holder.query('rollback'),
  };
}

await describeWithRedis('SIGTERM under load', () => {
  test.each(backends)(
    'an API answers what is under way and says 1001 to its sockets (%s)',
    async (backend) => {
      const cluster = await startCluster(backend, { DATABASE_LOCK_SECONDS: '100' });
      onTestFinished(() => cluster.stop());
      const [stopping, staying] = await Promise.all([cluster.api(), cluster.api(), cluster.worker()]);
      const talk = await startConversation(cluster.core, staying.url);
      const before = startLoad(talk, () => [stopping.url, staying.url]);
      const follower = await follow(talk.members[1], () => [stopping.url, staying.url]);
      await before.more(50);
      await before.finish();
      // Nothing is under way: who waits for the thread now came to the process that is to stop.
      const thread = await holdThread(cluster, talk);
      const body = { content: 'under way' };
      const path = `threads/${talk.thread_id}/messages`;
      const underWay = rest('POST', `${stopping.url}/v1/${path}`, { token: talk.members[0].token, body });
      await thread.awaited();
      // A balancer sends nothing more to a process that stops.
      const after = startLoad(talk, () => [staying.url]);
      const ended = stopping.terminate();
      expect(await follower.firstClose).toMatchObject({ code: 1001 });
      await thread.release();
      const answered = await underWay;
      expect(answered.status).toBe(201);
      expect(await ended, stopping.log()).toEqual(clean);
      await after.more(50);
      await after.finish();
      for (const load of [before, after]) load.expectSmooth();
      const acknowledged = [...before.acknowledged, answered.body, ...after.acknowledged];
      await follower.until(acknowledged.length);
      expect([follower.repeated(), follower.connections()]).toEqual([0, 2]);
      await expectExact({ core: cluster.core, url: staying.url }, talk, acknowledged);
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
    // As npm passes on what it gets, beside what the process gets itself.
    const again = api.terminate();
    const opening = { with_handle: bob.handle, initial_message: 'still here' };
    const made = await rest('POST', `${api.url}/v1/threads`, { token: ann.token, body: opening });
    expect([made.status, made.headers.get('connection')]).toEqual([201, 'close']);
    const heard = await socket.next(({ type }) => type === 'message.created');
    expect(heard.data).toMatchObject({ content: 'still here' });
    expect((await waiting).body.events).not.toEqual([]);

    expect(await api.interrupt(), api.log()).toEqual(clean);
    expect(await Promise.all([ended, again])).toEqual([clean, clean]);
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

  test('a worker leaves work that takes long to another one', async () => {
    const cluster = await startCluster('redis');
    onTestFinished(() => cluster.stop());
    const { core } = cluster;
    const roles = { WORKER_ROLES: 'maintenance' };
    const stopping = await cluster.worker(roles);
    // An erasure waits for whatever was begun before it.
    const before = new pg.Client({
      connectionString: cluster.env['DATABASE_URL'],
      application_name: 'ams',
    });
    await before.connect();
    onTestFinished(() => before.end());
    await before.query('begin');
    await before.query('select from agents limit 1');
    const ann = await buildAgent(core);
    const { id } = await core.unitOfWork.record((work) =>
      beginErasure(work, { id: ann.id, canonical_handle: ann.handle, retired: false }, null),
    );
    const jobs = async () => {
      const depths = await core.queues.depths();
      return depths.find(({ queue }) => queue === 'agent-erasure');
    };
    await vi.waitFor(async () => expect(await jobs()).toMatchObject({ active: 1 }), 60_000);
    expect(await stopping.terminate(), stopping.log()).toEqual(clean);
    expect(await jobs()).toMatchObject({ waiting: 1, active: 0, delayed: 0, failed: 0 });
    await before.query('rollback');
    await cluster.worker(roles);
    const stage = async () => (await core.repositories.erasures.find(id))?.stage;
    await expect.poll(stage, { timeout: 60_000, interval: 50 }).toBe('done');
  });

  test('a worker leaves what hangs at the store of files to another one', async () => {
    const store = await faultyS3();
    onTestFinished(() => store.close());
    const cluster = await startCluster('redis', { ...store.env, S3_PATIENCE_SECONDS: '120' });
    onTestFinished(() => cluster.stop());
    const { core } = cluster;
    const [api, stopping] = await Promise.all([cluster.api(), cluster.worker()]);
    const ann = await buildAgent(core);
    const files = (['hang', 'stuck'] as const).map((deed) => planned({ GET: [deed, 'do'] }));
    const service = { api: `${api.url}/v1` };
    const ids: string[] = [];
    for (const bytes of files) ids.push(await uploaded(service, ann, { bytes, type: null }));
    await vi.waitFor(() => expect(files.map((bytes) => store.tries('GET', bytes))).toEqual([1, 1]), 60_000);
    expect(await stopping.terminate(), stopping.log()).toEqual(clean);
    const scans = (await core.queues.depths()).find(({ queue }) => queue === 'attachment-scanning');
    expect(scans).toMatchObject({ active: 0, delayed: 0, failed: 0 });
    await cluster.worker();
    for (const id of ids) expect(await scanned(service, ann, id)).toMatchObject({ scan_status: 'clean' });
  });
});
