import { randomBytes } from 'node:crypto';
import { connectTo } from '../support/servers/postgres/database.ts';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type ServiceProcess, startProcess } from '../../scripts/parts/service-process.ts';
import { compose } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { callToolRaw } from '../clients/mcp/client.ts';
import { startReplication } from '../support/servers/postgres/replication.ts';
import { requestRest } from '../clients/rest.ts';
import { buildAgent, allTestScopes, type TestAgent, issueTokenFor } from '../support/service.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { connectWebSocket } from '../clients/websocket.ts';
import { stopAfterTest, use } from '../support/use.ts';

const waitOptions = { timeout: 60_000, interval: 50 };
const replication = use(startReplication);

/** All processes of one database share this key. */
const SECRET_KEY = randomBytes(32).toString('base64');

/** An API process on the primary, with a replica at this address, and as many more processes as the test needs. */
async function startService(replica_url: string, more: Record<string, string> = {}) {
  const env = {
    DATABASE_URL: replication.primary_url,
    DATABASE_REPLICA_URL: replica_url,
    DATABASE_REPLICA_LAG_SECONDS: '3600',
    SECRET_KEY,
    HOST: '127.0.0.1',
    PORT: '0',
    PUBLIC_URL: 'http://localhost:3000',
    RATE_LIMITS: 'off',
    ...more,
  };
  const core = stopAfterTest(compose(loadConfig({ ...env, LOG_LEVEL: 'silent' }), 'test'));
  async function start(): Promise<ServiceProcess> {
    const api = await startProcess('api', env);
    onTestFinished(() => api.kill9());
    await expectHealthy(api, 1);
    return api;
  }
  return { core, start, one: await start() };
}

type Core = ReturnType<typeof compose>;

async function metric(api: ServiceProcess, line: string): Promise<number> {
  const text = await (await fetch(`${api.url}/metrics`)).text();
  const found = text.split('\n').find((each) => each.startsWith(`${line} `));
  return Number(found?.slice(line.length + 1) ?? 0);
}

const reads = (api: ServiceProcess, outcome: string) =>
  metric(api, `ams_replica_reads_total{outcome="${outcome}"}`);

/** Waits until a process uses its replica, or stops using it. */
function expectHealthy(api: ServiceProcess, up: 0 | 1): Promise<void> {
  return vi.waitFor(async () => {
    const text = await (await fetch(`${api.url}/metrics`)).text();
    expect(text).toMatch(new RegExp(`^ams_replica_up\\{replica="[^"]+"\\} ${up}$`, 'm'));
  }, waitOptions);
}

async function get(api: ServiceProcess, { token }: TestAgent, path: string) {
  const answer = await requestRest('GET', `${api.url}/v1${path}`, { token });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function post(api: ServiceProcess, { token }: TestAgent, path: string, body: object) {
  const answer = await requestRest('POST', `${api.url}/v1${path}`, { token, body });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

async function exchangeMessages(core: Core, api: ServiceProcess) {
  const [ann, bob, cid, dan] = await Promise.all([1, 2, 3, 4].map(() => buildAgent(core)));
  if (!ann || !bob || !cid || !dan) throw new Error('there are no agents');
  const mine = await post(api, ann, '/threads', { with_handle: bob.handle, initial_message: 'first' });
  const theirs = await post(api, cid, '/threads', { with_handle: dan.handle, initial_message: 'hello' });
  return { ann, bob, cid, dan, thread: String(mine.id), other: String(theirs.id) };
}

/** Waits until the standby has replayed everything from the primary. */
async function waitUntilCaughtUp(): Promise<void> {
  const { rows } = await replication.onPrimary('select pg_current_wal_flush_lsn() as lsn');
  await vi.waitFor(async () => {
    const { rows: there } = await replication.onStandby(
      `select pg_last_wal_replay_lsn() >= '${rows[0].lsn}' as there`,
    );
    expect(there[0].there).toBe(true);
  }, waitOptions);
}

describe('a read replica', () => {
  test('serves lists and search; readers always see their own writes and every event they received', async () => {
    const { core, one, start } = await startService(replication.standby_url);
    const two = await start();
    const { ann, bob, cid, dan, thread, other } = await exchangeMessages(core, one);
    const mcp = await issueTokenFor(core, ann.handle, { audience: 'mcp' });
    await waitUntilCaughtUp();

    // Without newer writes, both processes read all lists from the replica.
    for (const api of [one, two]) {
      const before = await reads(api, 'served');
      expect((await get(api, ann, '/threads')).threads).toHaveLength(1);
      expect((await get(api, ann, `/threads/${thread}/messages`)).messages).toHaveLength(1);
      await get(api, ann, '/contacts');
      await get(api, ann, '/search?q=agent');
      await get(api, ann, '/messages/search?q=first');
      expect(await reads(api, 'served')).toBe(before + 5);
    }

    await replication.pauseReplay();
    onTestFinished(() => replication.resumeReplay());
    const live = stopAfterTest(await connectWebSocket(two.url, { token: bob.token }));
    const served = await reads(two, 'served');
    const behind = await reads(two, 'behind');
    const sent = await post(one, ann, `/threads/${thread}/messages`, { content: 'second' });

    // The recipient of the event sees the message, and so does its author at another process and on other transports.
    const told = await live.next(({ type }) => type === 'message.created');
    expect(told.data?.['id']).toBe(sent.id);
    const ids = async (reader: TestAgent) =>
      (await get(two, reader, `/threads/${thread}/messages`)).messages.map((each: { id: string }) => each.id);
    expect((await ids(bob))[0]).toBe(sent.id);
    expect((await ids(ann))[0]).toBe(sent.id);
    expect((await get(two, ann, '/threads')).threads[0].last_sequence).toBe(2);
    const tool = await callToolRaw(two.url, mcp, 'get_thread', { thread_id: thread });
    expect(JSON.stringify(tool.value)).toContain(sent.id);
    const tools = await callToolRaw(two.url, mcp, 'list_threads', { detail: 'full' });
    expect(JSON.stringify(tools.value)).toContain('"last_sequence":2');

    // Writes without an event count as well.
    const scopes = [...allTestScopes, 'agents:write'] as const;
    const owner = { ...cid, token: await issueTokenFor(core, cid.handle, { scopes }) };
    const made = await post(one, owner, '/agents', { name: 'new', display_name: 'New' });
    expect((await get(two, cid, '/agents')).agents.map(({ id }: { id: string }) => id)).toContain(made.id);
    expect(await reads(two, 'served')).toBe(served);
    expect(await reads(two, 'behind')).toBe(behind + 6);

    // A reader without newer writes still reads from the replica.
    expect((await get(two, dan, `/threads/${other}/messages`)).messages).toHaveLength(1);
    expect(await reads(two, 'served')).toBe(served + 1);

    await replication.resumeReplay();
    await waitUntilCaughtUp();
    expect((await ids(ann))[0]).toBe(sent.id);
    expect(await reads(two, 'served')).toBe(served + 2);
  });

  test('shows consistent pages, whatever transactions were open when the first one was read', async () => {
    const { core, one } = await startService(replication.standby_url);
    const ann = await buildAgent(core);
    const threads: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      const { handle } = await buildAgent(core);
      threads.push((await post(one, ann, '/threads', { with_handle: handle, initial_message: 'hello' })).id);
    }
    // Open on the primary, and known to the standby as open: the commit after it makes the standby's snapshot include it.
    const late = await connectTo(replication.primary_url);
    await late.query('begin');
    const moved = { id: threads[0], at: Date.now() + 1_000 };
    await late.query('update threads set last_message_at = $2, updated_at = $2 where id = $1', [
      moved.id,
      moved.at,
    ]);
    await buildAgent(core);
    await waitUntilCaughtUp();

    const served = await reads(one, 'served');
    const first = await get(one, ann, '/threads?limit=2');
    await late.query('update feed_heads set last_number = last_number where agent_id = $1', [ann.id]);
    await late.query('commit');
    await waitUntilCaughtUp();
    const second = await get(one, ann, `/threads?limit=2&cursor=${first.next_cursor}`);
    const listed = [...first.threads, ...second.threads].map(({ id }: { id: string }) => id);
    expect(listed).toEqual(threads.toReversed());
    expect(await reads(one, 'served')).toBe(served + 2);
  });

  test('is not used while its lag is too high, and used again when it has caught up', async () => {
    const { core, one } = await startService(replication.standby_url, { DATABASE_REPLICA_LAG_SECONDS: '1' });
    const ann = await buildAgent(core);
    await replication.pauseReplay();
    onTestFinished(() => replication.resumeReplay());
    await buildAgent(core);
    await expectHealthy(one, 0);
    const away = await reads(one, 'away');
    await get(one, ann, '/threads');
    expect(await reads(one, 'away')).toBe(away + 1);
    const ready = await fetch(`${one.url}/readyz`);
    expect({ status: ready.status, body: await ready.json() }).toMatchObject({
      status: 200,
      body: { status: 'degraded', parts: { replicas: 'failed', database: 'ok' } },
    });
    await replication.resumeReplay();
    await expectHealthy(one, 1);
    await waitUntilCaughtUp();
    const served = await reads(one, 'served');
    await get(one, ann, '/threads');
    expect(await reads(one, 'served')).toBe(served + 1);
  });

  test('that hangs delays requests only for a limited time, and is used again when it responds', async () => {
    const proxy = stopAfterTest(await startTcpProxy(replication.standby_url));
    const { core, one } = await startService(proxy.url);
    const ann = await buildAgent(core);
    await waitUntilCaughtUp();
    const served = await reads(one, 'served');
    await get(one, ann, '/threads');
    expect(await reads(one, 'served')).toBe(served + 1);
    proxy.freeze();
    // The primary answers each of them; then the process stops using the replica.
    await Promise.all(Array.from({ length: 20 }, () => get(one, ann, '/threads')));
    expect(await reads(one, 'served')).toBe(served + 1);
    await expectHealthy(one, 0);
    await proxy.disconnect();
    await proxy.restore();
    await expectHealthy(one, 1);
    await get(one, ann, '/threads');
    expect(await reads(one, 'served')).toBe(served + 2);
  });

  test('can be killed under load, without errors for clients', async () => {
    const unreachable = 'postgres://ams@127.0.0.1:1/ams';
    const { core, one } = await startService(`${replication.standby_url},${unreachable}`);
    const { ann, bob, thread } = await exchangeMessages(core, one);
    const over = new AbortController();
    onTestFinished(() => over.abort());
    let sent = 0;
    const writer = (async () => {
      while (!over.signal.aborted) {
        await post(one, ann, `/threads/${thread}/messages`, { content: `message ${sent}` });
        sent += 1;
      }
    })();
    const readers = [ann, bob].map(async (reader) => {
      while (!over.signal.aborted) {
        const known = sent;
        const [newest] = (await get(one, reader, `/threads/${thread}/messages?limit=1`)).messages;
        expect(newest.sequence).toBeGreaterThanOrEqual(known);
        await get(one, reader, '/threads');
      }
    });
    for (let rounds = 0; rounds < 2; rounds += 1) {
      const before = await reads(one, 'served');
      await vi.waitFor(async () => expect(await reads(one, 'served')).toBeGreaterThan(before), waitOptions);
      await replication.killStandby();
      await expectHealthy(one, 0);
      const seen = sent;
      await vi.waitFor(() => expect(sent).toBeGreaterThan(seen + 5), waitOptions);
      await replication.startStandby();
      await expectHealthy(one, 1);
    }
    over.abort();
    await Promise.all([writer, ...readers]);
  });
});
