import { beforeAll, expect, test } from 'vitest';
import { postRawMessage, type RawResponse, sendRawRequest } from '../../clients/mcp/client.ts';
import { pollEvents } from '../../clients/mcp/events.ts';
import {
  askStateless,
  buildStatelessRequest,
  postStateless,
  type StatelessRequest,
  statelessRevision,
} from '../../clients/mcp/stateless-request.ts';
import { createApprovalFixtures } from './approvals/setup.ts';
import { useMcpInstance } from './instance.ts';

const instance = useMcpInstance();
let token: string;
beforeAll(async () => {
  token = await instance.token('hostile.agent');
});

const { people, rows } = createApprovalFixtures(() => instance);

const older = (method: string, params: object) =>
  postRawMessage(instance.url, token, { jsonrpc: '2.0', id: 1, method, params });
const stateless = (method: string, params: StatelessRequest['params'] = {}) =>
  postStateless(instance.url, token, { method, params });

/** Nothing failed inside the service: the client was told what is wrong with its request. */
function expectClientError(answer: RawResponse): void {
  expect(answer.status, answer.text).toBeLessThan(500);
  expect(answer.text).not.toContain('INTERNAL');
  expect(answer.text).not.toContain('-32603');
  expect(answer.text).toMatch(/"error"|"isError":true/);
}

const notUnicode = '\ud800';
const withNul = 'thd_\u0000';

test.each(['service://threads/', 'service://threads/01', ''])(
  'a resource named %j and a lone surrogate does not exist',
  async (start) => {
    const uri = start + notUnicode;
    for (const method of ['resources/read', 'resources/subscribe'])
      expectClientError(await older(method, { uri }));
    // No header can repeat the name.
    expect((await stateless('resources/read', { uri })).json).toMatchObject({ error: { code: -32_020 } });
    const [absent, broken] = [['service://nowhere'], [uri]].map(async (resourceSubscriptions) => {
      const answer = await stateless('subscriptions/listen', { notifications: { resourceSubscriptions } });
      return [answer.status, answer.text];
    });
    expect(await broken).toEqual(await absent);
  },
);

test.each(['constructor', '__proto__'])('a resource named %j does not exist', async (uri) => {
  expectClientError(await older('resources/read', { uri }));
  expectClientError(await stateless('resources/read', { uri }));
});

test.each([notUnicode, withNul])('the text %j is refused wherever a request has one', async (text) => {
  const requests: [string, Record<string, unknown>][] = [
    ['tools/call', { name: text, arguments: {} }],
    ['tools/call', { name: 'get_thread', arguments: { thread_id: text } }],
    ['tools/call', { name: 'search_messages', arguments: { query: text } }],
    ['tools/call', { name: 'list_threads', arguments: { cursor: text } }],
    ['tools/call', { name: 'wait_for_events', arguments: { cursor: text } }],
    ['tools/call', { name: 'acknowledge_events', arguments: { cursor: text } }],
    ['tools/call', { name: 'request_contact', arguments: { handle: 'other.agent', message: text } }],
    ['tools/call', { name: 'whoami', arguments: { [text]: 1 } }],
    ['prompts/get', { name: text }],
    ['resources/read', { uri: `service://${text}` }],
  ];
  for (const [method, params] of requests) {
    expectClientError(await older(method, params));
    expectClientError(await stateless(method, params));
  }
  for (const [method, params] of [
    ['events/poll', { name: text }],
    ['events/poll', { name: 'message.created', cursor: text }],
    ['events/poll', { name: 'message.created', arguments: { thread_id: text } }],
    ['events/poll', { name: 'message.created', arguments: { with_handle: text } }],
    ['events/list', { cursor: text }],
  ] as const)
    expectClientError(await stateless(method, params));
  const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    const params = { taskId: text, inputResponses: {} };
    expectClientError(await postStateless(instance.url, token, { method, params, capabilities }));
  }
});

test.each([4_800, 9_000])('values inside %i others', async (depth) => {
  const marker = '"@deep"';
  const nested = '['.repeat(depth) + ']'.repeat(depth);
  const post = async (request: StatelessRequest) => {
    const { headers, message } = buildStatelessRequest(request);
    const type = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify(message).replaceAll(marker, nested);
    return sendRawRequest(instance.url, { headers: { ...headers, ...type }, body });
  };
  const args = { handle: 'other.agent', message: '@deep' };
  const params = { name: 'request_contact', arguments: args };
  for (const fields of [{}, { requestState: 'AAAA' }, { inputResponses: {} }])
    expectClientError(await post({ method: 'tools/call', params: { ...params, ...fields } }));
  const ignored = { method: 'tools/list', meta: { 'io.modelcontextprotocol/clientInfo': '@deep' } };
  expect((await post(ignored)).status).toBeLessThan(500);
});

test.each([
  {},
  { protocolVersion: '2025-11-25' },
  { protocolVersion: '2025-11-25', capabilities: [], clientInfo: { name: 'x', version: '1' } },
  { protocolVersion: 7, capabilities: {}, clientInfo: { name: 'x', version: '1' } },
])('initialize with %j begins no session: 400, invalid params', async (params) => {
  const message = { jsonrpc: '2.0', id: 'first', method: 'initialize', params };
  const answer = await postRawMessage(instance.url, token, message);
  expect(answer).toMatchObject({ status: 400, json: { id: 'first', error: { code: -32_602 } } });
  const batch = await postRawMessage(instance.url, token, [message]);
  expect(batch).toMatchObject({ status: 200, json: [{ id: 'first', error: { code: -32_600 } }] });
  for (const { headers } of [answer, batch]) expect(headers.get('mcp-session-id')).toBeNull();
});

const legacyBody = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const statelessBody = buildStatelessRequest({ method: 'tools/list' }).message;
const begin = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
const initializeBody = { jsonrpc: '2.0', id: 1, method: 'initialize', params: begin };

test.each([
  { version: statelessRevision, body: legacyBody, code: -32_602 },
  { version: statelessRevision, body: initializeBody, code: -32_020 },
  { version: statelessRevision, body: [legacyBody], code: -32_600 },
  { version: statelessRevision, body: [statelessBody], code: -32_600 },
  { version: statelessRevision, body: [legacyBody, statelessBody], code: -32_600 },
  { version: statelessRevision, body: { jsonrpc: '2.0', id: 1, result: {} }, code: -32_000 },
  { version: '2025-11-25', body: statelessBody, code: -32_020 },
  { version: '2025-11-25', body: [legacyBody, statelessBody], code: -32_600 },
  { version: `${statelessRevision}, 2025-11-25`, body: legacyBody, code: -32_602 },
  { version: `${statelessRevision}, 2025-11-25`, body: statelessBody, code: -32_020 },
  { version: '2999-01-01', body: statelessBody, code: -32_020 },
])('the header $version with the body $body: 400 and $code', async ({ version, body, code }) => {
  const headers = { 'MCP-Protocol-Version': version, 'Mcp-Method': 'tools/list' };
  const answer = await postRawMessage(instance.url, token, body, headers);
  expect(answer).toMatchObject({ status: 400, json: { jsonrpc: '2.0', error: { code } } });
  expect(answer.headers.get('mcp-session-id')).toBeNull();
});

test('a stateless request needs a live token for the tool server', async () => {
  const request = { method: 'tools/call', params: { name: 'whoami', arguments: {} } };
  const of = (audience: 'api' | 'ws') => instance.token('hostile.agent', { audience });
  const wrong = [await of('api'), await of('ws'), `${token}x`, token.slice(1), `${token} ${token}`, ''];
  for (const other of wrong) {
    const answer = await postStateless(instance.url, other, request);
    expect(answer.status, other).toBe(401);
    expect(answer.headers.get('www-authenticate')).toContain('resource_metadata=');
  }
});

test('the session of another agent gives a stateless request nothing', async () => {
  const other = await instance.token('session.owner');
  const { headers } = await postRawMessage(instance.url, other, initializeBody);
  const session = headers.get('mcp-session-id') ?? '';
  const call = { method: 'tools/call', params: { name: 'whoami', arguments: {} } };
  const answer = await postStateless(instance.url, token, {
    ...call,
    headers: { 'Mcp-Session-Id': session },
  });
  expect(answer.json).toMatchObject({ result: { structuredContent: { canonical_handle: 'hostile.agent' } } });
  const used = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const stolen = await postRawMessage(instance.url, token, used, { 'Mcp-Session-Id': session });
  expect(stolen.status).toBe(404);
});

test('no position of another agent opens a stream, a poll or a wait', async () => {
  const other = await instance.token('cursor.owner');
  const name = 'message.created';
  const { cursor } = await pollEvents(instance.url, other, { name, cursor: null });
  const stream = await stateless('events/stream', { name, cursor });
  expect(stream).toMatchObject({ status: 400, json: { error: { code: -32_602 } } });
  expect((await stateless('events/poll', { name, cursor })).json).toMatchObject({ error: { code: -32_602 } });
  for (const tool of ['wait_for_events', 'acknowledge_events'])
    for (const ask of [older, stateless]) {
      const answer = await ask('tools/call', { name: tool, arguments: { cursor } });
      expect(answer.json).toMatchObject({ result: { isError: true } });
      expect(answer.text).toContain('INVALID_CURSOR');
    }
});

test('a client without forms cannot approve its own task', async () => {
  const { mine, stranger, token: own } = await people();
  const tasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
  const ask = (method: string, params: Record<string, unknown>, capabilities: object = tasks) =>
    askStateless(instance.url, own, { method, params, capabilities });
  const call = { name: 'request_contact', arguments: { handle: stranger } };
  const taskId = String((await ask('tools/call', call)).result?.['taskId']);
  const inputResponses = { [taskId]: { action: 'accept', content: { approve: true } } };
  const byPage = { ...tasks, elicitation: { url: {} } };
  for (const capabilities of [tasks, byPage]) {
    await ask('tasks/update', { taskId, inputResponses }, capabilities);
    await ask('tools/call', { ...call, inputResponses }, capabilities);
  }
  expect(await rows(mine)).toMatchObject([{ state: 'pending', used: false }]);
});

test('nothing of this was a fault of the service', () => {
  expect(instance.loggedErrors).toEqual([]);
});
