import { beforeAll, expect, test } from 'vitest';
import { postRawMessage } from '../../../clients/mcp/client.ts';
import { buildStatelessRequest } from '../../../clients/mcp/stateless-request.ts';
import { openElicitingSession } from '../../../clients/mcp/raw-elicitation.ts';
import { useMcpInstance } from '../instance.ts';

const instance = useMcpInstance();
let token: string;
beforeAll(async () => {
  token = await instance.token('batch.agent');
});

const ping = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'ping' });
const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
const post = (body: object, headers: Record<string, string> = {}) =>
  postRawMessage(instance.url, token, body, headers);

test.each(['2024-11-05', '2025-03-26', ''])(
  'revision %j: a batch is answered by an array',
  async (version) => {
    const headers: Record<string, string> = version === '' ? {} : { 'MCP-Protocol-Version': version };
    const one = await post([ping(1)], headers);
    expect([one.status, one.json]).toEqual([200, [{ jsonrpc: '2.0', id: 1, result: {} }]]);
    const tools = { jsonrpc: '2.0', id: 'b', method: 'tools/call', params: { name: 'whoami' } };
    const two = await post([ping('a'), initialized, tools], headers);
    expect(two.json).toMatchObject([
      { id: 'a', result: {} },
      { id: 'b', result: { structuredContent: { canonical_handle: 'batch.agent' } } },
    ]);
  },
);

test('each member is answered: a malformed one by an error with id null, an id used twice by two answers', async () => {
  const answer = await post([ping(1), 5, ping(1), { jsonrpc: '2.0', id: 2 }, [], null, ping('last')]);
  expect(answer.status).toBe(200);
  const answers = answer.json as { id: unknown; error?: { code: number } }[];
  expect(answers.filter(({ error }) => !error).map(({ id }) => id)).toEqual([1, 1, 'last']);
  expect(answers.filter(({ error }) => error).map(({ id, error }) => [id, error?.code])).toEqual(
    Array.from({ length: 4 }, () => [null, -32_600]),
  );
  const initialize = { jsonrpc: '2.0', id: 7, method: 'initialize', params: {} };
  expect((await post([initialize, ping(8)])).json).toMatchObject([
    { id: 7, error: { code: -32_600 } },
    { id: 8 },
  ]);
});

test('a batch over an event stream brings each answer as an event', async () => {
  const answer = await post([ping(1), 5, ping(2)], { Accept: 'text/event-stream' });
  const events = answer.text.split('\n').filter((line) => line.startsWith('data: '));
  expect(events.map((line) => JSON.parse(line.slice(6)).id)).toEqual([null, 1, 2]);
});

test.each(['2025-06-18', '2025-11-25', '2026-07-28'])('revision %s has no batches: 400', async (version) => {
  const answer = await post([ping(1), ping(2)], { 'MCP-Protocol-Version': version });
  expect(answer).toMatchObject({ status: 400, json: { id: null, error: { code: -32_600 } } });
});

test('a session of a later revision has no batches, and no batch has more than a hundred messages', async () => {
  const headers = { 'Mcp-Session-Id': await openElicitingSession(instance.url, token) };
  expect(await post([ping(1)], headers)).toMatchObject({ status: 400, json: { error: { code: -32_600 } } });
  const many = await post(Array.from({ length: 101 }, (_, id) => ping(id)));
  expect(many).toMatchObject({ status: 400, json: { error: { code: -32_600 } } });
});

test.each([
  ['a notification', () => initialized, {}],
  ['a response', () => ({ jsonrpc: '2.0', id: 1, result: {} }), {}],
  ['a batch of both', () => [initialized, { jsonrpc: '2.0', id: 1, result: {} }], {}],
  [
    'a notification of 2026-07-28',
    () => ({ ...initialized, method: 'notifications/cancelled' }),
    buildStatelessRequest({ method: 'notifications/cancelled' }).headers,
  ],
])('%s is accepted: 202 without a body', async (_, body, headers) => {
  for (const Accept of ['application/json, text/event-stream', 'text/event-stream, application/json;q=0.1']) {
    const answer = await post(body(), { ...headers, Accept });
    expect([answer.status, answer.text]).toEqual([202, '']);
    expect(answer.headers.get('content-type')).toBeNull();
  }
});
