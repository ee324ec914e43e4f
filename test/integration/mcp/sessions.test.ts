import { createHash } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { mcpSessionsRepository } from '../../../src/repositories/auth/mcp-sessions.ts';
import { callToolRaw, postRawMessage, sendRawRequest, connectSdkClient } from '../../clients/mcp/client.ts';
import { type McpInstance, startMcpInstance, useMcpPair } from './instance.ts';
import { askStateless } from '../../clients/mcp/stateless-request.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';
import { openSseStream } from '../../clients/sse.ts';
import { stopAfterTest } from '../../support/use.ts';

const [first, second, database] = useMcpPair();

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

async function begin(instance: McpInstance, token: string): Promise<string> {
  const clientInfo = { name: 'bad\0 name', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo };
  const answer = await postRawMessage(instance.url, token, {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params,
  });
  return answer.headers.get('mcp-session-id') ?? '';
}

test('waits and streams continue after SECRET_KEY was replaced', async () => {
  const { url } = stopAfterTest(await createTestDatabase());
  const before = await startMcpInstance(url);
  const writer = await before.token('replaced.writer');
  const reader = await before.token('replaced.reader');
  const session = { 'mcp-session-id': await begin(before, reader) };
  const { value } = await callToolRaw(before.url, writer, 'create_thread', {
    with_handle: 'replaced.reader',
  });
  const params = { name: 'wait_for_events', arguments: { wait_seconds: 0 } };
  const call = { method: 'tools/call', params };
  const waits = [
    async (at: string) =>
      (await postRawMessage(at, reader, { jsonrpc: '2.0', id: 1, ...call }, session)).json,
    async (at: string) => askStateless(at, reader, call),
  ];
  const readEvents = async (at: string) =>
    Promise.all(waits.map(async (wait) => contents(Object(await wait(at)).result.structuredContent)));
  expect(await readEvents(before.url)).toEqual([[undefined], [undefined]]);
  await before.query('delete from signing_keys', []);
  await before.close();

  const after = await startMcpInstance(url, { secret_key: 'another secret of the tests, just as long' });
  onTestFinished(() => after.close());
  await callToolRaw(after.url, writer, 'send_message', { thread_id: String(value['id']), content: 'new' });
  const headers = { ...session, Authorization: `Bearer ${reader}`, Accept: 'text/event-stream' };
  const stream = await openSseStream(`${after.url}/mcp`, headers);
  onTestFinished(() => stream.close());
  const [created, sent] = await stream.events(2);
  expect(JSON.parse(created?.data ?? '{}').method).toMatch(/thread_created$/);
  expect(JSON.parse(sent?.data ?? '{}').params.content).toBe('new');
  expect(await readEvents(after.url)).toEqual([['new'], ['new']]);
});

test('a session works on every process, and after a restart of all of them', async () => {
  const token = await first.token('session.owner');
  const id = await begin(first, token);
  expect(id).toMatch(/^[\w-]{32}$/);
  const headers = { 'mcp-session-id': id };
  for (const { url } of [first, second, first, second]) {
    expect((await postRawMessage(url, token, list, headers)).status).toBe(200);
  }
  const later = await startMcpInstance(database.url);
  expect((await postRawMessage(later.url, token, list, headers)).status).toBe(200);
  await later.close();
});

test('unknown sessions and those of another agent are 404, on every method', async () => {
  const token = await first.token('session.mine');
  const foreign = await begin(first, await first.token('session.theirs'));
  for (const id of [foreign, 'nothing']) {
    const headers = { 'mcp-session-id': id, Authorization: `Bearer ${token}` };
    const posted = await postRawMessage(first.url, token, list, headers);
    expect([posted.status, posted.json]).toMatchObject([404, { id: 1, error: { code: -32_001 } }]);
    for (const method of ['GET', 'DELETE']) {
      expect((await sendRawRequest(first.url, { method, headers })).status).toBe(404);
    }
  }
});

test('a session lives for an hour after it was last used', async () => {
  const token = await first.token('session.aging');
  const headers = { 'mcp-session-id': await begin(first, token) };
  const age = async (minutes: number) => {
    const set = `update mcp_sessions s set seen_at = seen_at - $1 from agents a
      where a.id = s.agent_id and a.canonical_handle = 'session.aging'`;
    await first.query(set, [minutes * 60_000]);
  };
  await age(50);
  expect((await postRawMessage(second.url, token, list, headers)).status).toBe(200);
  await age(50);
  expect((await postRawMessage(first.url, token, list, headers)).status).toBe(200);
  const later = await startMcpInstance(database.url);
  await age(61);
  expect((await postRawMessage(later.url, token, list, headers)).status).toBe(404);
  await later.close();
});

test('DELETE ends a session and its stream', async () => {
  const token = await first.token('session.ender');
  const id = await begin(first, token);
  const headers = { 'mcp-session-id': id, Authorization: `Bearer ${token}` };
  const stream = await openSseStream(`${first.url}/mcp`, headers);
  expect((await sendRawRequest(first.url, { method: 'DELETE', headers })).status).toBe(204);
  await stream.ended;
  expect((await postRawMessage(first.url, token, list, headers)).status).toBe(404);
  expect((await postRawMessage(second.url, token, list, headers)).status).toBe(404);
  const bare = { Authorization: `Bearer ${token}` };
  expect((await sendRawRequest(first.url, { method: 'DELETE', headers: bare })).status).toBe(400);
});

test('DELETE ends the streams of the session on other processes too', async () => {
  const [left, right] = await Promise.all([
    startMcpInstance(database.url, { heartbeat_ms: 50 }),
    startMcpInstance(database.url),
  ]);
  const token = await left.token('session.far');
  const headers = { 'mcp-session-id': await begin(left, token), Authorization: `Bearer ${token}` };
  const stream = await openSseStream(`${left.url}/mcp`, headers);
  expect((await sendRawRequest(right.url, { method: 'DELETE', headers })).status).toBe(204);
  await stream.ended;
  await Promise.all([left.close(), right.close()]);
}, 15_000);

test('a session that one process ended is gone at the other when the answer arrives, and its streams bring nothing more', async () => {
  const token = await first.token('told.owner');
  const writer = await first.token('told.writer');
  const session = { 'mcp-session-id': await begin(first, token) };
  const headers = { ...session, Authorization: `Bearer ${token}` };
  const stream = await openSseStream(`${second.url}/mcp`, headers);
  expect((await sendRawRequest(first.url, { method: 'DELETE', headers })).status).toBe(204);
  expect((await postRawMessage(second.url, token, list, session)).status).toBe(404);
  const params = { name: 'create_thread', arguments: { with_handle: 'told.owner' } };
  await postRawMessage(second.url, writer, { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  await stream.ended;
  expect(stream.raw()).not.toContain('thread_created');
});

test.each([
  ['the same process', () => first],
  ['another process', () => second],
])(
  'a notification goes to the newest stream of a session, opened at %s; an older one continues by Last-Event-ID',
  async (where, newest) => {
    const owner = `newest${where.length}`;
    const { reader, send } = await conversation(owner);
    const session = { 'mcp-session-id': await begin(first, reader) };
    const headers = { ...session, Authorization: `Bearer ${reader}`, Accept: 'text/event-stream' };
    const subscribe = { method: 'resources/subscribe', params: { uri: 'service://threads' } };
    await postRawMessage(first.url, reader, { jsonrpc: '2.0', id: 1, ...subscribe }, session);
    const listen = async (at: McpInstance, more = {}) => {
      const stream = await openSseStream(`${at.url}/mcp`, { ...headers, ...more });
      onTestFinished(() => stream.close());
      const contentsOnce = async (count: number) =>
        (await stream.events(2 * count)).map(({ data }) => {
          const { method, params } = JSON.parse(data);
          return method === 'notifications/resources/updated' ? params.uri : params.content;
        });
      return { ...stream, contentsOnce };
    };
    const older = await listen(first);
    await send('one');
    expect(await older.contentsOnce(1)).toEqual(['service://threads', 'one']);
    const id = (await older.events(2)).at(-1)?.id ?? '';
    const newer = await listen(newest());
    await send('two');
    // What the older stream has sent does not come again.
    expect(await newer.contentsOnce(1)).toEqual(['service://threads', 'two']);
    await older.ended;
    expect(older.raw()).not.toContain('"two"');
    const resumed = await listen(first, { 'Last-Event-ID': id });
    expect(await resumed.contentsOnce(1)).toEqual(['service://threads', 'two']);
    await send('three');
    expect(await resumed.contentsOnce(2)).toEqual(['service://threads', 'two', 'service://threads', 'three']);
    await newer.ended;
    expect(newer.raw()).not.toContain('"three"');
  },
);

test('a wrong Last-Event-ID leaves the open stream of the session', async () => {
  const { reader, send } = await conversation('careful');
  const session = { 'mcp-session-id': await begin(first, reader) };
  const headers = { ...session, Authorization: `Bearer ${reader}`, Accept: 'text/event-stream' };
  const stream = await openSseStream(`${first.url}/mcp`, headers);
  onTestFinished(() => stream.close());
  const wrong = { ...headers, 'Last-Event-ID': 'nonsense' };
  expect((await sendRawRequest(first.url, { method: 'GET', headers: wrong })).status).toBe(400);
  await send('one');
  expect((await stream.events(1))[0]?.data).toContain('one');
});

test('an SDK client whose every request goes to the other process works and misses nothing', async () => {
  let turn = 0;
  const roundRobin: typeof fetch = (address, init) => {
    turn += 1;
    const { url } = turn % 2 === 0 ? first : second;
    const { pathname } = new URL(address instanceof Request ? address.url : address);
    return fetch(`${url}${pathname}`, init);
  };
  const listener = await connectSdkClient(first.url, await first.token('robin.listener'), {
    fetch: roundRobin,
  });
  const writer = await connectSdkClient(first.url, await first.token('robin.writer'), { fetch: roundRobin });
  const made = await writer.client.callTool({
    name: 'create_thread',
    arguments: { with_handle: 'robin.listener' },
  });
  const { id } = Object(made.structuredContent);
  const contents = Array.from({ length: 30 }, (_, index) => `message ${index}`);
  for (const content of contents) {
    await writer.client.callTool({ name: 'send_message', arguments: { thread_id: id, content } });
  }
  const came = () => listener.notifications.filter(({ method }) => method.endsWith('message_created'));
  await expect.poll(() => came().length).toBe(30);
  expect(came().map(({ params }) => params['content'])).toEqual(contents);
  await Promise.all([listener.close(), writer.close()]);
});

/** A reader, and what a writer does to send to it. */
async function conversation(owner: string) {
  const reader = await first.token(`${owner}.reader`);
  const writer = await first.token(`${owner}.writer`);
  const { value } = await callToolRaw(first.url, writer, 'create_thread', {
    with_handle: `${owner}.reader`,
  });
  const send = (content: string) =>
    callToolRaw(first.url, writer, 'send_message', { thread_id: String(value['id']), content });
  return { reader, send };
}

const contents = (value: Record<string, unknown>): unknown[] =>
  Object(value['events']).map(({ data }: { data: { content?: string } }) => data.content);

test('a session moves only forward: neither an older wait nor an older stream brings events again', async () => {
  const { reader, send } = await conversation('forward');
  const { client, transport, close } = await connectSdkClient(first.url, reader);
  onTestFinished(close);
  const sent = Array.from({ length: 12 }, (_, index) => `message ${index}`);
  for (const content of sent) await send(content);
  const wait = async (args: Record<string, unknown>) =>
    Object((await client.callTool({ name: 'wait_for_events', arguments: args })).structuredContent);
  const last = await wait({ types: ['message.created'] });
  expect(contents(last)).toEqual(sent);
  const older = await wait({ cursor: 'earliest', types: ['message.created'], limit: 3 });
  expect(contents(older)).toEqual(sent.slice(0, 3));
  expect(contents(await wait({ types: ['message.created'], wait_seconds: 0 }))).toEqual([]);

  const key = createHash('sha256')
    .update(transport.sessionId ?? '')
    .digest();
  const sessions = mcpSessionsRepository({
    async query<Row extends object>({ text }: { text: string }, values: readonly unknown[]): Promise<Row[]> {
      return (await first.query(text, values)) as Row[];
    },
  });
  const streamPosition = async () => (await sessions.find(key))?.stream_position;
  const { stream_number = 0 } = (await sessions.find(key)) ?? {};
  const toNumber = (cursor: string) =>
    Number(Buffer.from(cursor.split('.')[0] ?? '', 'base64url').toString());
  for (const { cursor } of [last, older]) {
    expect(await sessions.claimNotifications(key, stream_number, toNumber(cursor))).toEqual([]);
    expect(await streamPosition()).toBe(toNumber(last.cursor));
  }
});

test('a notification stream without Last-Event-ID starts where the session began, and then where its last stream ended', async () => {
  const { reader, send } = await conversation('streams');
  await send('before the session');
  const { transport, close } = await connectSdkClient(first.url, reader);
  await close();
  const headers = {
    Authorization: `Bearer ${reader}`,
    Accept: 'text/event-stream',
    'Mcp-Session-Id': transport.sessionId ?? '',
  };
  const readNext = async () => {
    const stream = await openSseStream(`${first.url}/mcp`, headers);
    const [event] = await stream.events(1);
    stream.close();
    return JSON.parse(event?.data ?? '{}').params.content;
  };
  await send('after initialize');
  expect(await readNext()).toBe('after initialize');
  await send('after the first stream');
  await expect.poll(readNext).toBe('after the first stream');
});
