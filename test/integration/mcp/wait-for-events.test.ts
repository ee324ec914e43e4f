import { expect, onTestFinished, test, vi } from 'vitest';
import { callToolRaw, postRawMessage, connectSdkClient, readRpcResult } from '../../clients/mcp/client.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';
import { startMcpInstance } from './instance.ts';
import { openSseStream } from '../../clients/sse.ts';
import { stopAfterTest, use } from '../../support/use.ts';

const database = use(createTestDatabase);
const instance = use(() => startMcpInstance(database.url, { receipts: true, progress_ms: 20 }));

/** A reader, a writer, their thread, and the reader's cursor after the creation of the thread. */
async function conversation(owner: string) {
  // The reader comes last, so that its feed does not begin with a new contact.
  const writer = await instance.token(`${owner}.writer`);
  const reader = await instance.token(`${owner}.reader`);
  const begin = await callToolRaw(instance.url, reader, 'wait_for_events', { wait_seconds: 0 });
  const { value } = await callToolRaw(instance.url, writer, 'create_thread', {
    with_handle: `${owner}.reader`,
  });
  const thread_id = String(value['id']);
  const wait = async (args: object, token = reader) =>
    (await callToolRaw(instance.url, token, 'wait_for_events', args)).value;
  const { cursor } = await wait({ cursor: begin.value['cursor'] });
  const send = (content: string, more: object = {}, token = writer) =>
    callToolRaw(instance.url, token, 'send_message', { thread_id, content, ...more });
  return { reader, writer, thread_id, wait, send, cursor: String(cursor) };
}

const contents = (value: Record<string, unknown>): unknown[] =>
  Object(value['events']).map(({ data }: { data: { content?: string } }) => data.content);

/** Resolves when that many callers of the agent wait. */
const waiting = (handle: string, count = 1) =>
  vi.waitFor(() => expect(instance.members(handle)).toBe(count), { timeout: 20_000, interval: 5 });

test('a call waits for the first event, and its cursor leads on from there', async () => {
  const { wait, send, cursor, thread_id } = await conversation('first');
  const pendingCall = wait({ cursor });
  await waiting('first.reader');
  await send('hello', { metadata: { no_reply_expected: true } });
  const one = await pendingCall;
  expect(one).toMatchObject({
    events: [
      {
        type: 'message.created',
        id: expect.stringMatching(/^evt_/),
        data: { thread_id, content: 'hello', sender: { canonical_handle: 'first.writer' } },
        relationship: 'same_owner',
        reply_expected: false,
      },
    ],
    complete: true,
  });
  await send('again');
  const two = await wait({ cursor: one['cursor'] });
  expect(contents(two)).toEqual(['again']);
  expect(Object(two['events'])[0]).not.toHaveProperty('reply_expected');
  expect(await wait({ cursor: two['cursor'], wait_seconds: 0 })).toEqual({
    events: [],
    cursor: two['cursor'],
    pending_events: expect.any(Number),
    complete: true,
  });
});

test('own messages do not end a wait, and types leave others out; the cursor passes all of them by', async () => {
  const { reader, writer, wait, send, cursor, thread_id } = await conversation('typed');
  await send('mine', {}, reader);
  const pendingCall = wait({ cursor, types: ['thread.updated'] });
  await waiting('typed.reader');
  await send('theirs');
  await callToolRaw(instance.url, writer, 'update_thread', { thread_id, subject: 'new' });
  const found = await pendingCall;
  expect(found).toMatchObject({ events: [{ type: 'thread.updated', data: { subject: 'new' } }] });
  expect(await wait({ cursor: found['cursor'], types: ['message.created'], wait_seconds: 0 })).toMatchObject({
    events: [],
  });
  expect(contents(await wait({ cursor, types: ['message.created'] }))).toEqual(['theirs']);
});

test('a page that is too long becomes a shorter one, and no event is lost after it', async () => {
  const { wait, send, cursor } = await conversation('long');
  const filler = 'x'.repeat(1_900);
  const sent = Array.from({ length: 50 }, (_, index) => `${index} ${filler}`);
  for (const content of sent) await send(content);
  const seen: unknown[] = [];
  let pages = 0;
  for (let at: unknown = cursor, complete: unknown = false; complete !== true; pages += 1) {
    const page = await wait({ cursor: at, limit: 100, detail: 'full' });
    expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(60_000);
    seen.push(...contents(page));
    ({ cursor: at, complete } = page);
  }
  expect(seen).toEqual(sent);
  expect(pages).toBeGreaterThan(1);
});

test('what is shown counts as delivered, once the answer has left', async () => {
  const { wait, send, cursor, writer } = await conversation('receipt');
  const { value } = await callToolRaw(instance.url, writer, 'wait_for_events', { wait_seconds: 0 });
  await send('have it');
  expect(contents(await wait({ cursor }))).toEqual(['have it']);
  const told = await wait({ cursor: value['cursor'], types: ['message.delivered'] }, writer);
  expect(told).toMatchObject({
    events: [{ data: { members: [{ canonical_handle: 'receipt.reader', up_to_sequence: 1 }] } }],
  });
});

test('a token that may follow nothing is refused before dispatch; one that may see some events gets those', async () => {
  const { send, wait, cursor } = await conversation('scoped');
  const blind = await instance.token('scoped.reader', { scopes: ['threads:write'] });
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait_for_events' } };
  const refused = await postRawMessage(instance.url, blind, call);
  expect([refused.status, refused.json]).toMatchObject([403, { error: { code: 'INSUFFICIENT_SCOPE' } }]);
  await send('not for all');
  const half = await instance.token('scoped.reader', { scopes: ['contacts:read'] });
  expect(await wait({ cursor, wait_seconds: 0 }, half)).toMatchObject({ events: [], complete: true });
  expect(contents(await wait({ cursor }))).toEqual(['not for all']);
});

test('a session continues where its last wait ended: nothing is missed before the first one, and nothing comes twice', async () => {
  const { reader, send } = await conversation('position');
  await send('before the session');
  const other = stopAfterTest(await startMcpInstance(database.url));
  const { transport, close } = await connectSdkClient(instance.url, reader);
  onTestFinished(close);
  const sameSession = { 'Mcp-Session-Id': transport.sessionId ?? '' };
  const waitAt = async (url: string, args: object = {}) => {
    const params = { name: 'wait_for_events', arguments: { types: ['message.created'], ...args } };
    const answer = await postRawMessage(
      url,
      reader,
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      sameSession,
    );
    return contents(Object(readRpcResult(answer).result?.['structuredContent']));
  };
  expect(await waitAt(instance.url)).toEqual(['before the session']);
  await send('between two waits');
  await send('and another');
  expect(await waitAt(instance.url, { limit: 1 })).toEqual(['between two waits']);
  expect(await waitAt(other.url)).toEqual(['and another']);
  expect(await waitAt(other.url, { wait_seconds: 0 })).toEqual([]);
  // Another session begins like a poll without a cursor.
  const again = stopAfterTest(await connectSdkClient(other.url, reader));
  const page = await again.client.callTool({ name: 'wait_for_events', arguments: {} });
  expect(contents(Object(page.structuredContent))).toEqual([
    undefined,
    'before the session',
    'between two waits',
    'and another',
  ]);
});

test('a session that only waits with a filter gets each of many events once', async () => {
  const { reader, send } = await conversation('window');
  const { client, close } = await connectSdkClient(instance.url, reader);
  onTestFinished(close);
  // More than the session remembers after the event that the filter leaves out, which announces the thread.
  const sent = Array.from({ length: 130 }, (_, index) => `message ${index}`);
  for (const content of sent) await send(content);
  const seen: unknown[] = [];
  for (const limit of [50, 50, 50, 1, 1]) {
    const args = { types: ['message.created'], limit, wait_seconds: 0 };
    const page = await client.callTool({ name: 'wait_for_events', arguments: args });
    seen.push(...contents(Object(page.structuredContent)));
  }
  expect(seen).toEqual(sent);
});

test('bad arguments are refused in the words of every tool', async () => {
  const { wait } = await conversation('bad');
  for (const args of [{ wait_seconds: -1 }, { limit: 0 }, { types: [] }, { types: ['x'] }, { no_such: 1 }])
    expect(await wait(args)).toMatchObject({ error: { code: 'VALIDATION_ERROR' } });
  expect(await wait({ cursor: 'x' })).toMatchObject({ error: { code: 'INVALID_CURSOR' } });
});

test('a wait ends with its token, with its caller and with the process', async () => {
  const { wait, reader, cursor } = await conversation('ends');
  const revoked = wait({ cursor });
  await waiting('ends.reader');
  instance.revoke('ends.reader');
  expect(await revoked).toMatchObject({ error: { code: 'UNAUTHORIZED' } });

  const gone = new AbortController();
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'wait_for_events', arguments: { cursor } },
  };
  const left = fetch(`${instance.url}/mcp`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${reader}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(call),
    signal: gone.signal,
  });
  await waiting('ends.reader');
  gone.abort();
  await expect(left).rejects.toThrow('abort');
  await waiting('ends.reader', 0);

  const leaving = await startMcpInstance(database.url);
  const answered = callToolRaw(leaving.url, reader, 'wait_for_events', { cursor });
  await vi.waitFor(() => expect(leaving.members('ends.reader')).toBe(1), { timeout: 20_000, interval: 5 });
  await leaving.drain();
  expect((await answered).value).toMatchObject({ events: [], cursor });
  await leaving.close();
});

test('a cancelled wait ends its stream without an answer', async () => {
  const { reader, cursor } = await conversation('cancel');
  const { client, close } = await connectSdkClient(instance.url, reader);
  onTestFinished(close);
  const cancel = new AbortController();
  const pendingCall = client.callTool({ name: 'wait_for_events', arguments: { cursor } }, undefined, {
    signal: cancel.signal,
    onprogress: () => {},
  });
  await waiting('cancel.reader', 2);
  cancel.abort('no longer');
  await expect(pendingCall).rejects.toThrow('no longer');
  await waiting('cancel.reader');
});

test('a client that asks for it hears how long the wait has lasted', async () => {
  const { reader, send, cursor } = await conversation('reports');
  const params = { name: 'wait_for_events', arguments: { cursor }, _meta: { progressToken: 'p' } };
  const headers = {
    Authorization: `Bearer ${reader}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'tools/call', params });
  const stream = await openSseStream(`${instance.url}/mcp`, headers, body);
  const reports = (await stream.events(2)).map(({ data }) => JSON.parse(data));
  expect(reports[0]).toMatchObject({
    method: 'notifications/progress',
    params: { progressToken: 'p', progress: expect.any(Number), total: 25 },
  });
  expect(reports[1].params.progress).toBeGreaterThan(reports[0].params.progress);
  await send('at last');
  await stream.ended;
  expect(stream.raw()).toContain('at last');
  // A client that accepts no stream gets the answer alone.
  const plain = await postRawMessage(instance.url, reader, JSON.parse(body), { accept: 'application/json' });
  expect(plain.json).toMatchObject({ id: 5, result: { structuredContent: { complete: true } } });
});
