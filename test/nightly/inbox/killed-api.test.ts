import { connectTo } from '../../support/servers/postgres/database.ts';
import { expect, onTestFinished, test } from 'vitest';
import { requestRest } from '../../clients/rest.ts';
import { type ServiceCluster, startTestCluster } from '../../support/cluster/cluster.ts';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { type Backend, backends, buildAgent } from '../../support/service.ts';
import { inboxOf } from '../../integration/inbox/setup.ts';

/** Locks a thread in the database, so that a reply waits in the middle of its transaction. */
async function holdThread({ env }: ServiceCluster, thread: string) {
  const client = await connectTo(env['DATABASE_URL']);
  await client.query('begin');
  await client.query('select 1 from threads where id = $1 for update', [thread]);
  const waiters = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return {
    reached: () => expect.poll(async () => (await client.query(waiters)).rowCount).toBe(1),
    release: () => client.query('rollback'),
  };
}

/** A question that an instance of its recipient has leased through an API process, beside a second process. */
async function startLease(backend: Backend) {
  const cluster = await startTestCluster(backend);
  const [doomed, other] = await Promise.all([cluster.startApi(), cluster.startApi()]);
  const [asker, worker] = await Promise.all([buildAgent(cluster.core), buildAgent(cluster.core)]);
  const api = `${other.url}/v1`;
  const inbox = inboxOf(api, worker);
  expect((await inbox.turnOn()).status).toBe(200);
  const body = { with_handle: worker.handle, initial_message: 'question' };
  const created = await requestRest('POST', `${api}/threads`, { token: asker.token, body });
  const thread = String(created.body.id);
  const proxy = await startTcpProxy(doomed.url);
  onTestFinished(() => proxy.close());
  const before = inboxOf(`${proxy.url.replace(/\/$/, '')}/v1`, worker);
  const [lease] = await before.leases();
  const id = lease?.id ?? '';
  const request = { key: crypto.randomUUID() };
  const reply = { reply: 'answer' };
  return {
    cluster,
    doomed,
    proxy,
    inbox,
    thread,
    lease: id,
    /** The text of the answer of the process that is killed, or `lost`. */
    acknowledgeBefore: () =>
      before.acknowledge(id, reply, request).then(
        ({ text }) => text,
        () => 'lost',
      ),
    /** The same request, to the other process. */
    repeat: () => inbox.acknowledge(id, reply, request),
    async texts() {
      const { body: page } = await requestRest('GET', `${api}/threads/${thread}/messages?order=asc`, {
        token: asker.token,
      });
      return page.messages.map(({ content }: { content: string }) => content);
    },
  };
}

await describeWithRedis('an API process that is killed', () => {
  test.each(backends)('after a claim leaves the lease to its holder (%s)', async (backend) => {
    const { doomed, inbox, repeat, texts } = await startLease(backend);
    await doomed.kill9();
    expect(await inbox.leases()).toEqual([]);
    expect((await repeat()).status).toBe(200);
    expect(await texts()).toEqual(['question', 'answer']);
  });

  test.each(backends)('during an acknowledgement writes nothing (%s)', async (backend) => {
    const { cluster, doomed, inbox, thread, acknowledgeBefore, repeat, texts } = await startLease(backend);
    const hold = await holdThread(cluster, thread);
    const lost = acknowledgeBefore();
    await hold.reached();
    await doomed.kill9();
    await hold.release();
    expect(await lost).toBe('lost');
    expect(await texts()).toEqual(['question']);
    expect((await inbox.get()).body).toMatchObject({ ready: 0, leased: 1 });
    expect((await repeat()).status).toBe(200);
    expect(await texts()).toEqual(['question', 'answer']);
  });

  test.each(backends)(
    'before it answers an acknowledgement has written the reply, once (%s)',
    async (backend) => {
      const { cluster, doomed, proxy, inbox, lease, thread, ...rest } = await startLease(backend);
      const hold = await holdThread(cluster, thread);
      const lost = rest.acknowledgeBefore();
      await hold.reached();
      proxy.freeze();
      await hold.release();
      await expect.poll(rest.texts).toEqual(['question', 'answer']);
      await doomed.kill9();
      await proxy.disconnect();
      expect(await lost).toBe('lost');
      const repeated = await rest.repeat();
      expect(repeated.body.message).toMatchObject({ content: 'answer', sequence: 2, thread_id: thread });
      expect(repeated.headers.get('idempotency-replayed')).toBe('true');
      expect((await rest.repeat()).text).toBe(repeated.text);
      expect(await rest.texts()).toEqual(['question', 'answer']);
      expect((await inbox.acknowledge(lease, { reply: 'answer' })).body.error.code).toBe('LEASE_LOST');
      expect((await inbox.get()).body).toMatchObject({ ready: 0, leased: 0, dead: 0 });
    },
  );
});
