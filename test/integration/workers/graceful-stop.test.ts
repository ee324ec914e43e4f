import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { beginErasure } from '../../../src/services/agents/erasures.ts';
import { startFaultyS3, buildPlannedFile } from '../../support/servers/faulty-s3.ts';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { requestRest } from '../../clients/rest.ts';
import { isNightly, processBackends } from '../../support/extent.ts';
import { buildAgent } from '../../support/service.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { waitForScan, uploadId } from '../attachments/setup.ts';
import { expectExactlyOnce } from '../../support/cluster/delivery-check.ts';
import {
  type ServiceCluster,
  type Conversation,
  startTestCluster,
  startConversation,
} from '../../support/cluster/cluster.ts';
import { followMessages } from '../../clients/message-follower.ts';
import { startMessageLoad } from '../../support/cluster/message-load.ts';
import { connectTo } from '../../support/servers/postgres/database.ts';

const clean = { code: 0, signal: null };

/** Locks a thread. */
async function holdThread({ env, core }: ServiceCluster, { thread_id }: Conversation) {
  const holder = await connectTo(env['DATABASE_URL']);
  await holder.query('begin');
  await holder.query('select from threads where id = $1 for update', [thread_id]);
  const text = `select from pg_stat_activity
    where datname = current_database() and application_name = 'ams' and wait_event_type = 'Lock'`;
  return {
    /** Resolves when a session waits for the lock. */
    async awaited(): Promise<void> {
      await vi.waitFor(async () => {
        expect((await core.database.query({ text }, [])).length).toBeGreaterThan(0);
      }, 60_000);
    },
    release: () => holder.query('rollback'),
  };
}

await describeWithRedis('SIGTERM under load', () => {
  test.each(processBackends)(
    'an API answers requests in progress and closes its sockets with 1001 (%s)',
    async (backend) => {
      const cluster = await startTestCluster(backend, { DATABASE_LOCK_SECONDS: '100' });
      const [stopping, staying] = await Promise.all([
        cluster.startApi(),
        cluster.startApi(),
        cluster.startWorker(),
      ]);
      const talk = await startConversation(cluster.core, staying.url);
      const before = startMessageLoad(talk, () => [stopping.url, staying.url]);
      const follower = await followMessages(talk.members[1], () => [stopping.url, staying.url]);
      await before.waitForMore(50);
      await before.finish();
      // No request is in progress: a request that waits for the thread now reached the process that is about to stop.
      const thread = await holdThread(cluster, talk);
      const body = { content: 'under way' };
      const path = `threads/${talk.thread_id}/messages`;
      const underWay = requestRest('POST', `${stopping.url}/v1/${path}`, {
        token: talk.members[0].token,
        body,
      });
      await thread.awaited();
      // A load balancer sends no more requests to a process that stops.
      const after = startMessageLoad(talk, () => [staying.url]);
      const ended = stopping.terminate();
      expect(await follower.firstClose).toMatchObject({ code: 1001 });
      await thread.release();
      const answered = await underWay;
      expect(answered.status).toBe(201);
      expect(await ended, stopping.log()).toEqual(clean);
      await after.waitForMore(50);
      await after.finish();
      for (const load of [before, after]) load.expectNoErrors();
      const acknowledged = [...before.acknowledged, answered.body, ...after.acknowledged];
      await follower.waitUntil(acknowledged.length);
      expect([follower.repeated(), follower.connections()]).toEqual([0, 2]);
      await expectExactlyOnce({ core: cluster.core, url: staying.url }, talk, acknowledged);
    },
  );

  if (!isNightly) return;
  test('a worker leaves a job that waits for the file store to another one', async () => {
    const store = await startFaultyS3();
    onTestFinished(() => store.close());
    const cluster = await startTestCluster('redis', { ...store.env, S3_TIMEOUT_SECONDS: '120' });
    const { core } = cluster;
    const [api, stopping] = await Promise.all([cluster.startApi(), cluster.startWorker()]);
    const ann = await buildAgent(core);
    const files = (['hang', 'stuck'] as const).map((deed) => buildPlannedFile({ GET: [deed, 'do'] }));
    const service = { api: `${api.url}/v1` };
    const ids: string[] = [];
    for (const bytes of files) ids.push(await uploadId(service, ann, { bytes, type: null }));
    await vi.waitFor(
      () => expect(files.map((bytes) => store.countAttempts('GET', bytes))).toEqual([1, 1]),
      60_000,
    );
    expect(await stopping.terminate(), stopping.log()).toEqual(clean);
    const scans = (await core.queues.depths()).find(({ queue }) => queue === 'attachment-scanning');
    expect(scans).toMatchObject({ active: 0, delayed: 0, failed: 0 });
    await cluster.startWorker();
    for (const id of ids) expect(await waitForScan(service, ann, id)).toMatchObject({ scan_status: 'clean' });
  });

  test('an API serves requests while load balancers stop sending new ones, unless it must stop immediately', async () => {
    const cluster = await startTestCluster('postgres');
    const api = await cluster.startApi({ DRAIN_SECONDS: '300' });
    const [ann, bob] = (await startConversation(cluster.core, api.url)).members;
    const socket = await connectWebSocket(api.url, { token: bob.token });
    const path = `events?cursor=${ann.start}&wait=30`;
    const waiting = requestRest('GET', `${api.url}/v1/${path}`, { token: ann.token });

    const ended = api.terminate();
    await vi.waitFor(async () => {
      const ready = await fetch(`${api.url}/readyz`);
      expect([ready.status, await ready.json()]).toMatchObject([503, { status: 'stopping' }]);
    }, 20_000);
    // As npm forwards a signal that the process also receives directly.
    const again = api.terminate();
    const opening = { with_handle: bob.handle, initial_message: 'still here' };
    const made = await requestRest('POST', `${api.url}/v1/threads`, { token: ann.token, body: opening });
    expect([made.status, made.headers.get('connection')]).toEqual([201, 'close']);
    const received = await socket.next(({ type }) => type === 'message.created');
    expect(received.data).toMatchObject({ content: 'still here' });
    expect((await waiting).body.events).not.toEqual([]);

    expect(await api.interrupt(), api.log()).toEqual(clean);
    expect(await Promise.all([ended, again])).toEqual([clean, clean]);
    expect(await socket.closed).toMatchObject({ code: 1001 });
  });

  test.each(processBackends)('a worker finishes its running jobs (%s)', async (backend) => {
    const cluster = await startTestCluster(backend);
    const [api, worker] = await Promise.all([cluster.startApi(), cluster.startWorker()]);
    const talk = await startConversation(cluster.core, api.url);
    const load = startMessageLoad(talk, () => [api.url]);
    await load.waitForMore(100);
    expect(await worker.terminate(), worker.log()).toEqual(clean);
    // Its running jobs are done: no job waits for the detection of a dead worker.
    const depths = await cluster.core.queues.depths();
    expect(depths.filter(({ active, failed }) => active + failed > 0)).toEqual([]);
    await cluster.startWorker();
    await load.waitForMore(50);
    await load.finish();
    load.expectNoErrors();
    await expectExactlyOnce({ core: cluster.core, url: api.url }, talk, load.acknowledged);
  });

  test('a worker leaves long jobs to another one', async () => {
    const cluster = await startTestCluster('redis');
    const { core } = cluster;
    const roles = { WORKER_ROLES: 'maintenance' };
    const stopping = await cluster.startWorker(roles);
    // An erasure waits for every transaction that began before it.
    const before = new pg.Client({
      connectionString: cluster.env['DATABASE_URL'],
      application_name: 'ams',
    });
    await before.connect();
    onTestFinished(() => before.end());
    await before.query('begin');
    await before.query('select from agents limit 1');
    const ann = await buildAgent(core);
    const { id } = await core.unitOfWork.write(system, (work) =>
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
    await cluster.startWorker(roles);
    const stage = async () => (await core.db.erasures.find(id))?.stage;
    await expect.poll(stage).toBe('done');
  });
});
