import { beforeAll, expect, test } from 'vitest';
import { defineOperation, toolHints } from '../../../src/operations/define.ts';
import { catalogue } from '../../../src/operations/catalogue.ts';
import { callToolRaw, connectSdkClient } from '../../clients/mcp/client.ts';
import { z } from 'zod';
import { useMcpInstance } from './instance.ts';

const broken = defineOperation({
  name: 'broken',
  summary: 'Fails',
  scope: 'any',
  kind: 'read',
  input: z.strictObject({}),
  output: z.object({}),
  async run() {
    throw new Error('the password is hunter2');
  },
  tool: { description: 'Always fails.', annotations: toolHints.read },
  errors: [],
  example: { input: {}, output: {} },
});

/** The calls of `slow` that are running: each ends when the test calls its function. */
const running: (() => void)[] = [];

const slow = defineOperation({
  ...broken,
  name: 'slow',
  async run() {
    await new Promise<void>((resolve) => running.push(resolve));
    return {};
  },
});

const instance = useMcpInstance({
  catalogue: [...catalogue, broken, slow],
});
let token: string;

beforeAll(async () => {
  token = await instance.token('calls.agent');
  await instance.token('calls.other');
});

/** Takes the errors logged for calls; those of background work on a slow machine are left out. */
const faultsOfCalls = () => instance.loggedErrors.splice(0).filter((fault) => 'operation' in fault);

async function newThread(): Promise<string> {
  const { value } = await callToolRaw(instance.url, token, 'create_thread', { with_handle: 'calls.other' });
  return String(value['id']);
}

test('a write with an idempotency key happens once, also when the call is repeated twenty times at once', async () => {
  const thread_id = await newThread();
  const args = { thread_id, content: 'once', idempotency_key: 'key-1' };
  const results = await Promise.all(
    Array.from({ length: 20 }, () => callToolRaw(instance.url, token, 'send_message', args)),
  );
  expect(new Set(results.map(({ value }) => value['id'])).size).toBe(1);
  const { value } = await callToolRaw(instance.url, token, 'get_thread', { thread_id });
  expect(value).toMatchObject({ thread: { last_sequence: 1 } });

  const other = await callToolRaw(instance.url, token, 'send_message', { ...args, content: 'twice' });
  expect(other).toMatchObject({ isError: true, value: { error: { code: 'IDEMPOTENCY_MISMATCH' } } });
  const wrong = await callToolRaw(instance.url, token, 'send_message', {
    ...args,
    idempotency_key: 'two words',
  });
  expect(wrong.value).toMatchObject({
    error: { code: 'VALIDATION_ERROR', message: expect.stringContaining('idempotency_key') },
  });
});

test('refusals are results with the error body of REST', async () => {
  const thread_id = await newThread();
  const cases: [string, object, object][] = [
    [
      'get_thread',
      { thread_id: 'thd_none' },
      { code: 'THREAD_NOT_FOUND', message: expect.stringContaining('Call list_threads') },
    ],
    [
      'get_thread',
      {},
      {
        code: 'VALIDATION_ERROR',
        message: expect.stringMatching(/^thread_id: is required\. Call list_threads/),
      },
    ],
    [
      'list_threads',
      { idempotency_key: 'x' },
      { code: 'VALIDATION_ERROR', message: expect.stringContaining('idempotency_key: is unknown') },
    ],
    ['list_threads', { cursor: 'x' }, { code: 'INVALID_CURSOR' }],
    ['create_thread', { with_handle: 'missing.here' }, { code: 'AGENT_NOT_FOUND' }],
    ['create_thread', { with_handle: 'no handle' }, { code: 'INVALID_HANDLE' }],
    ['send_message', { thread_id, content: 'x'.repeat(32_769) }, { code: 'MESSAGE_TOO_LARGE' }],
    ['send_message', { thread_id, content: '\0' }, { code: 'VALIDATION_ERROR' }],
  ];
  for (const [name, args, error] of cases) {
    const result = await callToolRaw(instance.url, token, name, args);
    expect(result).toMatchObject({ isError: true, value: { error }, structured: undefined });
    expect(Object(result.value['error']).request_id).toMatch(/\S/);
  }
  expect(faultsOfCalls()).toEqual([]);
});

test('the SDK client takes a refusal for an error of the tool, not for one of the protocol', async () => {
  const { client, close } = await connectSdkClient(instance.url, token);
  await client.listTools();
  const result = await client.callTool({ name: 'get_thread', arguments: { thread_id: 'thd_none' } });
  expect(result.isError).toBe(true);
  await close();
});

test('a fault of ours says nothing of its cause, and is logged under the id that the caller is told', async () => {
  const { isError, value, text } = await callToolRaw(instance.url, token, 'broken');
  expect(isError).toBe(true);
  expect(value).toMatchObject({ error: { code: 'INTERNAL' } });
  expect(text).not.toContain('hunter2');
  const { request_id } = Object(value['error']);
  expect(faultsOfCalls()).toMatchObject([
    { request_id, operation: 'broken', err: { message: expect.stringContaining('hunter2') } },
  ]);
});

test('a caller that goes away while it is answered disturbs nothing', async () => {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow' } };
  const leaving = new AbortController();
  const request = fetch(`${instance.url}/mcp`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(message),
    signal: leaving.signal,
  });
  request.catch(() => undefined);
  await expect.poll(() => running.length).toBe(1);
  leaving.abort();
  await expect(request).rejects.toThrow('aborted');
  running.pop()?.();
  // A call that begins later ends later.
  const next = callToolRaw(instance.url, token, 'slow');
  await expect.poll(() => running.length).toBe(1);
  running.pop()?.();
  expect((await next).isError).not.toBe(true);
  expect(instance.loggedErrors).toEqual([]);
});

test('list_threads with unread true has only the threads with unread messages', async () => {
  const reader = await instance.token('unread.reader');
  const writer = await instance.token('unread.writer');
  const open = { with_handle: 'unread.reader', initial_message: 'Hello' };
  const ids = [];
  for (let count = 0; count < 2; count += 1)
    ids.push((await callToolRaw(instance.url, writer, 'create_thread', open)).value['id']);
  const [first, second] = ids;
  const unread = async () => {
    const { value } = await callToolRaw(instance.url, reader, 'list_threads', { unread: true });
    return Object(value['threads']).map(({ id }: { id: string }) => id);
  };
  expect(await unread()).toEqual([second, first]);
  await callToolRaw(instance.url, reader, 'mark_read', { thread_id: second, up_to_sequence: 1 });
  expect(await unread()).toEqual([first]);
});

test('long messages come as previews, whole when asked for one by one, and as the schema says', async () => {
  const thread_id = await newThread();
  const long = 'für '.repeat(6_500);
  for (let sent = 0; sent < 12; sent += 1)
    await callToolRaw(instance.url, token, 'send_message', { thread_id, content: long });
  const { client, close } = await connectSdkClient(instance.url, token);
  await client.listTools(); // it validates
  const result = await client.callTool({ name: 'get_thread', arguments: { thread_id } });
  const value = Object(result.structuredContent);
  expect(Buffer.byteLength(JSON.stringify(value))).toBeLessThanOrEqual(60_000);
  expect(value).toMatchObject({
    truncated: true,
    read_the_rest: expect.stringContaining(
      JSON.stringify({ thread_id, message_limit: 1, before_sequence: 2 }),
    ),
  });
  expect(value.messages).toHaveLength(12);
  for (const message of value.messages) {
    expect(message.truncated).toBe(true);
    expect(message.content).toBe(`${'für '.repeat(512)}…`);
  }
  const one = await callToolRaw(instance.url, token, 'get_thread', {
    thread_id,
    message_limit: 1,
    before_sequence: 6,
  });
  expect(one.value).not.toHaveProperty('truncated');
  expect(one.value).toMatchObject({ messages: [{ sequence: 5, content: long }] });
  await close();
});

test('a page that is too long becomes a shorter one, and its cursor points to the end of that page', async () => {
  const agent = await instance.token('calls.lister');
  const subject = 'für '.repeat(50).trim();
  const ids: unknown[] = [];
  for (let made = 0; made < 100; made += 1) {
    const { value } = await callToolRaw(instance.url, agent, 'create_thread', {
      with_handle: 'calls.other',
      subject,
    });
    ids.unshift(value['id']);
  }
  const seen: unknown[] = [];
  let cursor: unknown;
  let pages = 0;
  do {
    const { value, text } = await callToolRaw(instance.url, agent, 'list_threads', {
      limit: 100,
      detail: 'full',
      ...(cursor !== undefined && { cursor }),
    });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(60_000);
    expect(value).not.toHaveProperty('truncated');
    seen.push(...Object(value['threads']).map((thread: { id: string }) => thread.id));
    cursor = value['next_cursor'];
    pages += 1;
  } while (cursor !== undefined);
  expect(seen).toEqual(ids);
  expect(pages).toBe(2);
});
