import { expect, test, vi } from 'vitest';
import { startTcpBalancer } from '../../../scripts/parts/tcp-balancer.ts';
import { requestRest } from '../../clients/rest.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { startTestCluster } from '../../support/cluster/cluster.ts';
import { startReplication } from '../../support/servers/postgres/replication.ts';
import { buildAgent, type TestAgent } from '../../support/service.ts';
import { stopAfterTest } from '../../support/use.ts';

const waitOptions = { timeout: 60_000, interval: 50 };

/** A service whose primary can be replaced by a standby that lacks its last commits. */
async function startOnStandby() {
  const replication = stopAfterTest(await startReplication());
  let current = replication.primary_url;
  const balancer = stopAfterTest(
    await startTcpBalancer(() => {
      const { hostname: host, port } = new URL(current);
      return [{ host, port: Number(port) }];
    }),
  );
  const url = new URL(current);
  url.port = String(balancer.port);
  const cluster = await startTestCluster('postgres', { DATABASE_URL: url.href });
  const [one, other] = [await cluster.startApi(), await cluster.startApi()];
  return {
    core: cluster.core,
    one,
    other,
    /** From now on commits stay on the primary. The standby has everything before. */
    async endReplication() {
      const { rows } = await replication.onPrimary('select pg_current_wal_flush_lsn() as lsn');
      const caughtUp = `select pg_last_wal_replay_lsn() >= '${rows[0].lsn}' as reached`;
      await expect.poll(async () => (await replication.onStandby(caughtUp)).rows[0].reached).toBe(true);
      await replication.endReplication();
    },
    async promoteStandby() {
      await balancer.disconnect();
      await replication.onStandby('select pg_promote()');
      current = replication.standby_url;
      await balancer.restore();
    },
  };
}

type Service = Awaited<ReturnType<typeof startOnStandby>>;

const gap = { gap: true };

/** All messages after a position, and whether the service reports lost ones. */
async function readFrom(url: string, { token }: TestAgent, from: string) {
  const found = { gap: false, messages: [] as string[], cursor: from };
  for (let complete = false; !complete;) {
    const query = new URLSearchParams({ limit: '2', cursor: found.cursor });
    const { status, text, body } = await requestRest('GET', `${url}/v1/events?${query}`, { token });
    expect(status, text).toBe(200);
    found.gap ||= body.gap === true;
    for (const { type, data } of body.events)
      if (type === 'message.created') found.messages.push(data.content);
    ({ cursor: found.cursor, complete } = body);
  }
  return found;
}

async function startThread({ core, one }: Service) {
  const [ann, bob] = [await buildAgent(core), await buildAgent(core)];
  const body = { participants: [bob.handle] };
  const { body: thread } = await requestRest('POST', `${one.url}/v1/threads`, { token: ann.token, body });
  const send = async (url: string, content: string) => {
    const path = `${url}/v1/threads/${thread.id}/messages`;
    const answer = await requestRest('POST', path, { token: ann.token, body: { content } });
    expect(answer.status, answer.text).toBe(201);
  };
  const page = await requestRest('GET', `${one.url}/v1/events`, { token: bob.token });
  return { bob, send, beginning: String(page.body.cursor) };
}

test('a promoted standby that lacks commits: readers of those are told of a gap, all others miss nothing', async () => {
  const service = await startOnStandby();
  const { one, other } = service;
  const { bob, send, beginning } = await startThread(service);
  await send(one.url, 'kept one');
  await send(one.url, 'kept two');
  const kept = await readFrom(one.url, bob, beginning);
  await service.endReplication();
  await send(one.url, 'lost one');
  await send(other.url, 'lost two');
  const lost = await readFrom(other.url, bob, kept.cursor);
  expect(lost).toMatchObject({ gap: false, messages: ['lost one', 'lost two'] });
  const live = await connectWebSocket(other.url, { token: bob.token, cursor: lost.cursor });

  await service.promoteStandby();
  // As many as were lost: positions that are used twice would match the cursors exactly.
  await vi.waitFor(() => send(one.url, 'new one'), waitOptions);
  await send(one.url, 'new two');

  const newMessages = ['new one', 'new two'];
  for (const { url } of [one, other]) {
    expect(await readFrom(url, bob, lost.cursor)).toMatchObject({ ...gap, messages: newMessages });
    expect(await readFrom(url, bob, kept.cursor)).toMatchObject({ gap: false, messages: newMessages });
    const all = { gap: false, messages: [...kept.messages, ...newMessages] };
    expect(await readFrom(url, bob, beginning)).toMatchObject(all);
  }
  // The stream stays open over the takeover, and ends because its position was lost.
  await live.closed;
  expect(live.events()).toEqual([]);
  const again = await connectWebSocket(other.url, { token: bob.token, cursor: lost.cursor });
  expect(again.ready).toMatchObject({ resumed: true, ...gap });
  await again.waitUntil(() => again.events().length === 2);
  expect(again.events().map(({ data }) => data?.['content'])).toEqual(newMessages);
  await again.close();
});
