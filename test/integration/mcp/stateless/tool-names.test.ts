import { beforeAll, describe, expect, test } from 'vitest';
import { postRawMessage, readRpcResult } from '../../../clients/mcp/client.ts';
import { postStateless } from '../../../clients/mcp/stateless-request.ts';
import { requestRest } from '../../../clients/rest.ts';
import { useMcpInstance } from '../instance.ts';

const instance = useMcpInstance();
let token: string;
beforeAll(async () => {
  token = await instance.token('names.ada');
  await instance.token('names.bob');
});

interface ToolCall {
  name: string;
  args?: unknown;
  token?: string;
  headers?: Record<string, string>;
}

/** `tools/call` in both eras of the protocol. */
const eras = {
  '2025-11-25': ({ name, args = {}, token: other = token }: ToolCall) =>
    postRawMessage(instance.url, other, {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args },
    }),
  '2026-07-28': ({ name, args = {}, token: other = token, headers = {} }: ToolCall) =>
    postStateless(instance.url, other, { method: 'tools/call', params: { name, arguments: args }, headers }),
};

describe.each(Object.entries(eras))('%s', (era, call) => {
  test.each([
    'list_threads',
    'LIST_THREADS',
    'listThreads',
    'ListThreads',
    'list-threads',
    'listthreads',
    'ams.list_threads',
    'ams/list_threads',
    'ams:list_threads',
    'mcp__ams__list_threads',
    'functions.mcp__ams__listThreads',
  ])('%s calls list_threads', async (name) => {
    const answer = await call({ name, args: { limit: 1 } });
    expect(readRpcResult(answer).result).toMatchObject({ structuredContent: { threads: expect.any(Array) } });
  });

  test.each(['list_messages', 'getMessages', 'ams:get-messages'])('%s calls get_thread', async (name) => {
    const opened = await call({
      name: 'createThread',
      args: { with_handle: 'names.bob', initial_message: 'Hi' },
    });
    const { id } = Object(readRpcResult(opened).result?.['structuredContent']);
    const answer = await call({ name, args: { thread_id: id, limit: 5 } });
    expect(readRpcResult(answer).result).toMatchObject({
      structuredContent: { thread: { id }, messages: [{ content: 'Hi' }] },
    });
  });

  test('scopes and approvals are those of the tool that is meant', async () => {
    const reader = await instance.token('names.ada', { scopes: ['threads:read'] });
    for (const name of ['sendMessage', 'SEND_MESSAGE', 'x__send-message', 'whoami.send_message']) {
      const answer = await call({ name, args: { thread_id: 'thd_none', content: 'x' }, token: reader });
      expect([answer.status, answer.json]).toMatchObject([403, { error: { code: 'INSUFFICIENT_SCOPE' } }]);
      expect(answer.headers.get('www-authenticate')).toContain('scope="threads:write"');
    }
    for (const name of ['Request-Contact', 'ams/requestContact']) {
      const { result } = readRpcResult(await call({ name, args: { handle: 'names.bob' } }));
      // Agents of one owner need no approval; another owner's agent does.
      expect(result).toMatchObject({ content: [{ text: expect.not.stringContaining('Unknown') }] });
    }
    await instance.token('others.eve');
    const stranger = readRpcResult(await call({ name: 'x:REQUEST_CONTACT', args: { handle: 'others.eve' } }));
    expect(stranger.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('APPROVAL_REQUIRED') }],
    });
  });

  test.each([
    ['sned_message', /did you mean send_message\?$/],
    ['send_mesage', /did you mean send_message\?$/],
    ['reply', /did you mean send_message\?$/],
    ['read_attachment', /did you mean get_attachment\?$/],
    ['delete_conversation_permanently', /Tools: whoami, .*list_threads.*\.$/],
  ])('the unknown name %s is answered with the nearest', async (name, text) => {
    const { error } = readRpcResult(await call({ name }));
    expect(error).toMatchObject({ code: -32_602, message: expect.stringMatching(text) });
  });

  test('only tools that the token allows are named', async () => {
    const reader = await instance.token('names.ada', { scopes: ['threads:read'] });
    const { error } = readRpcResult(await call({ name: 'no_such_thing_at_all', token: reader }));
    expect(error?.message).toContain('get_thread');
    expect(error?.message).not.toContain('send_message');
    expect(readRpcResult(await call({ name: 'send_mesage', token: reader })).error?.message).not.toContain(
      'did you mean send_message',
    );
  });

  test.each([
    ['an object', '{"limit":2}'],
    ['nothing', ''],
  ])('arguments that are the JSON text of %s are parsed', async (_name, args) => {
    const { result } = readRpcResult(await call({ name: 'list_threads', args }));
    expect(result).toMatchObject({ structuredContent: { threads: expect.any(Array) } });
  });

  test.each([['[1]'], ['two'], ['{"limit":'], [`[${'[],'.repeat(20_000)}[]]`]])(
    'arguments that are another text (%#) are refused',
    async (args) => {
      const { error } = readRpcResult(await call({ name: 'list_threads', args }));
      expect(error).toEqual({ code: -32_602, message: 'Invalid params.arguments: must be an object.' });
    },
  );

  test('a text that quotes half of a surrogate pair has U+FFFD in its place', async () => {
    const named = await call({ name: '\ud83d' });
    // In 2026-07-28 no header can repeat the name.
    if (era === '2025-11-25') expect(readRpcResult(named).error?.message).toMatch(/^Unknown tool: \uFFFD/);
    expect(named.text).not.toContain(String.raw`\ud83d`);
    const unknown = readRpcResult(await call({ name: 'whoami', args: { '\ud83d': 1 } })).result;
    expect(unknown).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('\uFFFD') }] });
    expect(JSON.stringify(unknown)).not.toContain(String.raw`\ud83d`);
  });
});

test('the header and the body may spell the name differently, but must name one tool', async () => {
  const call = (header: string) =>
    eras['2026-07-28']({ name: 'listThreads', headers: { 'Mcp-Name': header } });
  for (const header of ['list_threads', 'listThreads', 'ams:LIST-THREADS'])
    expect((await call(header)).status).toBe(200);
  for (const header of ['send_message', 'list_thread', 'list_contacts', 'xlist_threads'])
    expect(await call(header)).toMatchObject({ status: 400, json: { error: { code: -32_020 } } });
});

test('each call of a batch is resolved', async () => {
  const message = (id: number, name: string) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: '{}' },
  });
  const reader = await instance.token('names.ada', { scopes: ['threads:read'] });
  const batch = [message(1, 'WhoAmI'), message(2, 'sendMessage')];
  expect((await postRawMessage(instance.url, reader, batch)).status).toBe(403);
  expect((await postRawMessage(instance.url, token, [message(1, 'WhoAmI')])).text).toContain('names.ada');
});

test.each([
  ['prompts/get', { name: '\ud83d' }],
  ['resources/read', { uri: 'service://threads/\ud83d' }],
])('%s quotes no half of a surrogate pair', async (method, params) => {
  const answer = await postRawMessage(instance.url, token, { jsonrpc: '2.0', id: 1, method, params });
  expect(answer.text).toContain('\uFFFD');
  expect(answer.text).not.toContain(String.raw`\ud83d`);
});

test.each([
  ['a field', { '\ud83d': 1 }],
  ['a field of metadata', { with_handle: 'names.bob', metadata: { '\ud83d': 1 } }],
])('REST quotes no half of a surrogate pair in %s', async (_name, body) => {
  const rest = await instance.token('names.ada', { audience: 'api' });
  const answer = await requestRest('POST', `${instance.url}/v1/threads`, { token: rest, body });
  expect(answer.status).toBe(400);
  expect(answer.text).toContain('\uFFFD');
  expect(answer.text).not.toContain(String.raw`\ud83d`);
});
