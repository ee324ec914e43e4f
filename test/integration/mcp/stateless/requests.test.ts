import { beforeAll, expect, test } from 'vitest';
import { callToolRaw, postRawMessage, sendRawRequest } from '../../../clients/mcp/client.ts';
import {
  askStateless,
  buildStatelessRequest,
  postStateless,
  statelessRevision,
} from '../../../clients/mcp/stateless-request.ts';
import { useMcpInstance } from '../instance.ts';

const instance = useMcpInstance();
let token: string;
beforeAll(async () => {
  token = await instance.token('ada.stateless');
});

const ask = (method: string, params?: Record<string, unknown>) =>
  askStateless(instance.url, token, { method, ...(params && { params }) });

test('server/discover says what the service is and can do, without a session', async () => {
  const answer = await postStateless(instance.url, token, { method: 'server/discover' });
  expect(answer.headers.get('mcp-session-id')).toBeNull();
  expect(answer.json).toMatchObject({
    result: {
      resultType: 'complete',
      supportedVersions: [statelessRevision],
      capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {} },
      instructions: expect.stringContaining('ada.stateless'),
      cacheScope: 'private',
      _meta: {
        'io.modelcontextprotocol/serverInfo': { name: 'agent-messaging-service', version: instance.version },
      },
    },
  });
});

const isWait = ({ name }: { name: string }) => name === 'wait_for_events';
const withoutWait = (items: unknown) => (items as { name: string }[]).filter((item) => !isWait(item));
const waitTexts = (answer: unknown) => JSON.stringify(Object(answer).result.tools.find(isWait));

test('both eras list the same tools, resources and prompts, each time in the same order; a wait says what keeps its place', async () => {
  for (const [method, field, cacheScope] of [
    ['tools/list', 'tools', 'private'],
    ['resources/list', 'resources', 'public'],
    ['resources/templates/list', 'resourceTemplates', 'public'],
    ['prompts/list', 'prompts', 'public'],
  ] as const) {
    const older = await postRawMessage(instance.url, token, { jsonrpc: '2.0', id: 1, method });
    const { result } = await ask(method);
    expect(result).toMatchObject({ resultType: 'complete', ttlMs: 300_000, cacheScope });
    expect(withoutWait(result?.[field])).toEqual(withoutWait(Object(older.json).result[field]));
    if (field === 'tools') {
      expect(waitTexts(older.json)).toMatch(/(last wait of this session.*){2}/);
      expect(waitTexts({ result })).toMatch(/(last wait of this sign-in.*){2}/);
      expect(waitTexts({ result })).not.toContain('session');
    }
    expect((await ask(method)).result).toEqual(result);
  }
});

test('both eras answer a call alike', async () => {
  const older = await callToolRaw(instance.url, token, 'whoami');
  const { result } = await ask('tools/call', { name: 'whoami', arguments: {} });
  expect(result).toMatchObject({ resultType: 'complete', structuredContent: older.value });
  const failed = await ask('tools/call', { name: 'get_thread', arguments: { thread_id: 'thd_none' } });
  expect(failed.result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('list_threads') }],
  });
  const read = await ask('resources/read', { uri: 'service://threads' });
  expect(read.result).toMatchObject({
    ttlMs: 0,
    cacheScope: 'private',
    contents: [{ mimeType: 'application/json' }],
  });
});

test('an unknown resource and one of others are refused alike', async () => {
  const other = await instance.token('bob.stateless');
  await instance.token('eve.stateless');
  const { value } = await callToolRaw(instance.url, other, 'create_thread', { with_handle: 'eve.stateless' });
  const read = async (uri: string) => (await ask('resources/read', { uri })).error;
  const foreign = await read(`service://threads/${String(value['id'])}`);
  const absent = await read('service://threads/thd_01ARZ3NDEKTSV4RRFFQ69G5FAV');
  expect([foreign?.code, foreign?.message]).toEqual([absent?.code, absent?.message]);
  expect(foreign?.code).toBe(-32_602);
});

test.each([
  { name: 'no method header', headers: { 'Mcp-Method': '' }, code: -32_020 },
  { name: 'another method', headers: { 'Mcp-Method': 'tools/call' }, code: -32_020 },
  { name: 'no version header', headers: { 'MCP-Protocol-Version': '' }, code: -32_020 },
  { name: 'another version', headers: { 'MCP-Protocol-Version': '2025-11-25' }, code: -32_020 },
  {
    name: 'no client capabilities',
    meta: { 'io.modelcontextprotocol/clientCapabilities': undefined },
    code: -32_602,
  },
  { name: 'no version', meta: { 'io.modelcontextprotocol/protocolVersion': undefined }, code: -32_602 },
  {
    name: 'a version that is no text',
    meta: { 'io.modelcontextprotocol/protocolVersion': 7 },
    code: -32_602,
  },
])('a request with $name gets 400 and its id', async ({ headers, meta, code }) => {
  const request = { method: 'tools/list', id: 'seven', ...(headers && { headers }), ...(meta && { meta }) };
  expect(await postStateless(instance.url, token, request)).toMatchObject({
    status: 400,
    json: { jsonrpc: '2.0', id: 'seven', error: { code } },
  });
});

test('the name header must name what is called', async () => {
  const call = (name: string) =>
    postStateless(instance.url, token, {
      method: 'tools/call',
      params: { name: 'whoami', arguments: {} },
      headers: { 'Mcp-Name': name },
    });
  const toBase64 = (name: string) => `=?base64?${Buffer.from(name).toString('base64')}?=`;
  for (const name of ['', 'send_message', toBase64('send_message'), '=?base64?whoami?=', '=?base64?=d2?='])
    expect(await call(name)).toMatchObject({ status: 400, json: { id: 1, error: { code: -32_020 } } });
  for (const name of ['whoami', toBase64('whoami')]) expect(await call(name)).toMatchObject({ status: 200 });
});

test('an unknown revision gets the known one, an unknown method 404', async () => {
  const version = '2099-01-01';
  const newer = await postStateless(instance.url, token, {
    method: 'server/discover',
    headers: { 'MCP-Protocol-Version': version },
    meta: { 'io.modelcontextprotocol/protocolVersion': version },
  });
  expect(newer).toMatchObject({
    status: 400,
    json: { error: { code: -32_022, data: { supported: [statelessRevision], requested: version } } },
  });
  for (const method of ['tools/destroy', 'resources/subscribe', 'logging/setLevel', 'ping', 'initialize'])
    expect(await postStateless(instance.url, token, { method })).toMatchObject({
      status: 404,
      json: { id: 1, error: { code: -32_601 } },
    });
});

test('authentication, scopes, origins and sizes are checked as in the older revisions', async () => {
  const { headers, message } = buildStatelessRequest({ method: 'tools/list' });
  const type = { ...headers, 'Content-Type': 'application/json' };
  const anonymous = await sendRawRequest(instance.url, { headers: type, body: JSON.stringify(message) });
  expect(anonymous.status).toBe(401);
  expect(anonymous.headers.get('www-authenticate')).toContain('/.well-known/oauth-protected-resource/mcp');
  const reading = await instance.token('reading.stateless', { scopes: ['threads:read'] });
  const params = { name: 'send_message', arguments: { thread_id: 'thd_1', content: 'x' } };
  const refused = await postStateless(instance.url, reading, { method: 'tools/call', params });
  expect(refused.status).toBe(403);
  expect(refused.headers.get('www-authenticate')).toContain('insufficient_scope');
  const { result } = await askStateless(instance.url, reading, { method: 'tools/list' });
  expect(JSON.stringify(result)).not.toContain('"send_message"');
  const away = { method: 'tools/list', headers: { Origin: 'https://evil.example' } };
  expect((await postStateless(instance.url, token, away)).status).toBe(403);
  const large = { method: 'tools/list', params: { padding: 'x'.repeat(5 * 1024 * 1024) } };
  expect((await postStateless(instance.url, token, large)).status).toBe(413);
  const deep = { method: 'tools/list', params: { padding: Array.from({ length: 300_000 }, () => 1) } };
  expect((await postStateless(instance.url, token, deep)).status).toBe(400);
  expect(instance.loggedErrors).toEqual([]);
});

test('a batch must not hold a stateless request, and GET and DELETE are of the older revisions', async () => {
  const { headers, message } = buildStatelessRequest({ method: 'tools/list' });
  const type = { ...headers, Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const batch = await sendRawRequest(instance.url, { headers: type, body: JSON.stringify([message]) });
  expect(batch).toMatchObject({ status: 400, json: { error: { code: -32_600 } } });
  for (const method of ['GET', 'DELETE'])
    expect((await sendRawRequest(instance.url, { method, headers: type })).status).toBe(400);
});

test('a client that accepts only JSON gets JSON, one that accepts only streams 406', async () => {
  const params = { name: 'wait_for_events', arguments: { wait_seconds: 0 }, _meta: { progressToken: 1 } };
  const call = (Accept: string) =>
    postStateless(instance.url, token, { method: 'tools/call', params, headers: { Accept } });
  expect(await call('application/json')).toMatchObject({ status: 200, json: { result: {} } });
  expect(await call('text/event-stream')).toMatchObject({ status: 406, json: { id: 1 } });
});

test('a subscription to a plain http address is told the setting that allows it', async () => {
  const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
  const delivery = { mode: 'webhook', url: 'http://127.0.0.1:9/hook', secret };
  const { error } = await ask('events/subscribe', { name: 'message.created', cursor: null, delivery });
  expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining('WEBHOOK_NETWORKS') });
});
