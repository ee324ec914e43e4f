import { expect, test, vi } from 'vitest';
import { callToolRaw, connectSdkClient, postRawMessage, readRpcResult } from '../../../clients/mcp/client.ts';
import { askStateless } from '../../../clients/mcp/stateless-request.ts';
import { useService } from '../../../support/service.ts';

// With a worker, which indexes messages for the search.
const service = useService();

const long = `A long report 😀 ${'word '.repeat(200)}`;

/** A reader whose only thread has a long last message of another agent. */
async function openThread() {
  const [writer, reader] = await Promise.all([service.agent(), service.agent()]);
  const send = (path: string, body: object) => service.post(writer, path, body);
  const metadata = { number: 7 };
  const created = await send('/threads', { participants: [reader.handle], subject: 'Report', metadata });
  const thread_id = String(created.body.id);
  const sent = await send(`/threads/${thread_id}/messages`, { content: long, metadata });
  const token = await service.token(reader.handle, { audience: 'mcp' });
  const call = async (name: string, args: object = {}) => {
    const { value, isError } = await callToolRaw(service.url, token, name, args);
    expect(isError).toBe(false);
    return value;
  };
  return { writer, reader, thread_id, message: sent.body, token, call };
}

/** Whether every field of a value is in the other one, with the same value; texts may be cut. */
function expectSubset(short: unknown, full: unknown): void {
  if (Array.isArray(short)) {
    for (const [at, item] of short.entries()) expectSubset(item, Object(full)[at]);
  } else if (typeof short === 'object' && short !== null) {
    for (const [key, value] of Object.entries(short)) {
      if (key === 'truncated') continue;
      expect(Object.keys(Object(full))).toContain(key);
      expectSubset(value, Object(full)[key]);
    }
  } else if (typeof short === 'string') expect(String(full).startsWith(short.replace(/…$/, ''))).toBe(true);
  else expect(short).toEqual(full);
}

test('list_threads shows who, when, state and first words, and all fields with detail full', async () => {
  const { writer, thread_id, message, call } = await openThread();
  const short = await call('list_threads');
  const other = { canonical_handle: writer.handle };
  expect(short).toEqual({
    threads: [
      {
        id: thread_id,
        subject: 'Report',
        status: 'active',
        members: [{ ...other, relationship: 'none' }],
        unread_count: 1,
        last_message_at: message.created_at,
        last_message_at_text: new Date(message.created_at).toISOString(),
        last_message: { sender: other, preview: expect.stringMatching(/^A long report 😀 (word )+.*…$/u) },
      },
    ],
    read_the_rest: `list_threads with {"detail":"full"} returns every field; get_thread with {"thread_id":"${thread_id}"} the messages of the first thread.`,
  });
  const full = await call('list_threads', { detail: 'full' });
  expect(full['read_the_rest']).toBeUndefined();
  expect(full['threads']).toMatchObject([
    {
      id: thread_id,
      metadata: { number: 7 },
      last_sequence: 1,
      members: [{ ...other, relationship: 'none' }, { relationship: 'self' }],
      last_message: { id: message.id, sequence: 1, sender: { id: writer.id } },
    },
  ]);
  const members = Object(full)['threads'][0].members.filter(
    ({ relationship }: { relationship: string }) => relationship !== 'self',
  );
  expectSubset(short['threads'], [{ ...Object(full)['threads'][0], members }]);
});

test('search_messages and wait_for_events show first words, and name the call that returns the rest', async () => {
  const { writer, thread_id, message, call } = await openThread();
  const search = async (args: object = {}) => {
    const found = await call('search_messages', { query: 'report', ...args });
    expect(found['results']).toHaveLength(1);
    return found;
  };
  const found = await vi.waitFor(() => search(), { timeout: 20_000 });
  const rest = `get_thread with {"thread_id":"${thread_id}","message_limit":1,"before_sequence":2} the first message whole.`;
  expect(found['read_the_rest']).toBe(`search_messages with {"detail":"full"} returns every field; ${rest}`);
  expect(Object(found)['results']).toEqual([
    {
      thread_id,
      message: {
        id: message.id,
        sender: { canonical_handle: writer.handle },
        relationship: 'none',
        sequence: 1,
        created_at: message.created_at,
        created_at_text: expect.any(String),
      },
      snippet: expect.stringContaining('**report**'),
    },
  ]);
  expectSubset(found['results'], (await search({ detail: 'full' }))['results']);
  const cursor = 'earliest';
  const events = await call('wait_for_events', { cursor, wait_seconds: 0 });
  expect(events['read_the_rest']).toContain(`"detail":"full"} returns every field; ${rest}`);
  const full = await call('wait_for_events', { cursor, wait_seconds: 0, detail: 'full' });
  expect(full['read_the_rest']).toBeUndefined();
  const [created, sent] = Object(events)['events'];
  expect(created.data).toEqual({
    id: thread_id,
    subject: 'Report',
    status: 'active',
    created_by: writer.handle,
    members: expect.arrayContaining([{ canonical_handle: writer.handle }]),
  });
  expect(sent.data).toMatchObject({ id: message.id, thread_id, sequence: 1, truncated: true });
  expect([...sent.data.content]).toHaveLength(201);
  expectSubset(Object(events)['events'], Object(full)['events']);
  const [whole] = Object(full)['events'].slice(-1);
  expect(whole).toMatchObject({
    id: expect.stringMatching(/^evt_/),
    data: { content: long, metadata: { number: 7 } },
  });
  const { messages } = Object(await call('get_thread', { thread_id, message_limit: 1, before_sequence: 2 }));
  expect(messages[0].content).toBe(long);
});

test('the call that wait_for_events names returns the same events, although the session continues after them', async () => {
  const { thread_id, token, writer } = await openThread();
  const { client, close } = await connectSdkClient(service.url, token);
  const wait = async (args: object) =>
    Object(
      (await client.callTool({ name: 'wait_for_events', arguments: { wait_seconds: 0, ...args } }))
        .structuredContent,
    );
  const filter = { types: ['message.created'], thread_id };
  expect((await wait(filter)).events).toHaveLength(1);
  await service.post(writer, `/threads/${thread_id}/messages`, { content: long });
  const short = await wait(filter);
  const [, args = ''] = /^wait_for_events with (\{.*?\}) returns/.exec(short.read_the_rest) ?? [];
  const { events } = await wait(JSON.parse(args));
  expect(events).toMatchObject([{ id: short.events[0].id, data: { sequence: 2, content: long } }]);
  await close();
});

test('a session of 2024-11-05 gets every field unless it asks for the short form; revision 2026-07-28 the short form', async () => {
  const { token, thread_id } = await openThread();
  const readThreads = (result: unknown) => JSON.parse(Object(result).content[0].text).threads[0];
  const callIn = async (protocolVersion: string, args: object) => {
    const clientInfo = { name: 'plain', version: '1' };
    const params = { protocolVersion, capabilities: {}, clientInfo };
    const hello = await postRawMessage(service.url, token, {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params,
    });
    const message = {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'list_threads', arguments: args },
    };
    const session = { 'Mcp-Session-Id': hello.headers.get('mcp-session-id') ?? '' };
    return readThreads(readRpcResult(await postRawMessage(service.url, token, message, session)).result);
  };
  expect(await callIn('2024-11-05', {})).toMatchObject({
    id: thread_id,
    metadata: { number: 7 },
    last_sequence: 1,
  });
  expect(await callIn('2024-11-05', { detail: 'short' })).not.toHaveProperty('metadata');
  expect(await callIn('2025-11-25', {})).not.toHaveProperty('metadata');
  const params = { name: 'list_threads', arguments: {} };
  const stateless = await askStateless(service.url, token, { method: 'tools/call', params });
  expect(readThreads(stateless.result)).not.toHaveProperty('metadata');
});

test('a thread without a message, and one whose text fits, are shown as they are', async () => {
  const { writer, reader, call } = await openThread();
  await service.post(writer, '/threads', { participants: [reader.handle] });
  const { threads } = Object(await call('list_threads'));
  expect(threads[0]).toMatchObject({ subject: null, last_message: null, last_message_at: null });
  expect(await call('list_threads', { with_handle: 'no.one' })).toEqual({ threads: [] });
});
