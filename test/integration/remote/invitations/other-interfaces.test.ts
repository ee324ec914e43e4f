import { describe, expect, test } from 'vitest';
import { catalogue } from '../../../../src/operations/catalogue.ts';
import {
  a2aAddress,
  type A2aMethod,
  bindings,
  createA2aClient,
  reasonOf,
  toA2aMessage,
} from '../../../clients/a2a.ts';
import { outcomeOf, requestRest } from '../../../clients/rest.ts';
import { refused } from '../../../clients/websocket.ts';
import { useInstallation } from '../setup.ts';
import { connect, tokenFor } from './setup.ts';

/** The token of an invitation serves one agent over A2A. Everywhere else it is refused as an unknown one. */

const here = useInstallation();
const there = useInstallation();
const unknown = 'u'.repeat(43);

async function meet() {
  const { bob, remoteBob } = await connect(here, there);
  const handles = [(await there.agent()).handle, 'absent.agent'];
  return { bob, handles, token: await tokenFor(here, remoteBob) };
}

let met: ReturnType<typeof meet> | undefined;
/** The same agents for each test. */
const meetOnce = (): ReturnType<typeof meet> => (met ??= meet());

/** Calls with the token of the invitation and with an unknown one. */
const both = async <Answer>(call: (token: string) => Promise<Answer>): Promise<Answer[]> => [
  await call((await meetOnce()).token),
  await call(unknown),
];

const operations = catalogue.flatMap(({ name, rest, example }) => (rest ? [{ name, rest, example }] : []));

test.each(operations)('REST: $name', async ({ rest: { method, path }, example }) => {
  const input: Record<string, unknown> = example.input;
  const url = `${there.api}${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(input[name])))}`;
  const answers = await both((by) =>
    requestRest(method, url, { token: by, ...(method !== 'GET' && { body: {} }) }),
  );
  expect(answers.map((answer) => outcomeOf(answer))).toEqual(Array(2).fill('401 UNAUTHORIZED'));
  const challenges = answers.map(({ headers }) => headers.get('www-authenticate'));
  expect(challenges[0]).toContain('error="invalid_token"');
  expect(challenges[0]).toBe(challenges[1]);
});

const stateless = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/list' };
test.each([
  { name: 'initialize', method: 'initialize', headers: {} },
  { name: 'a call of a session', method: 'tools/call', headers: { 'MCP-Session-Id': 'none' } },
  { name: 'a request without a session', method: 'tools/list', headers: stateless },
])('MCP: $name', async ({ method, headers }) => {
  const body = { jsonrpc: '2.0', id: 1, method, params: {} };
  const accept = { accept: 'application/json, text/event-stream', ...headers };
  const answers = await both((by) =>
    requestRest('POST', `${there.url}/mcp`, { token: by, key: null, headers: accept, body }),
  );
  expect(answers.map((answer) => outcomeOf(answer))).toEqual(Array(2).fill('401 UNAUTHORIZED'));
  for (const answer of answers)
    expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
});

test.each<[string, (by: string) => Parameters<typeof refused>[1]]>([
  ['the header', (by) => ({ token: by })],
  ['the subprotocol', (by) => ({ protocols: ['bearer', by] })],
  ['a ticket', (by) => ({ ticket: by })],
])('WebSocket: in %s', async (_name, toOptions) => {
  const address = there.url.replace('http', 'ws');
  const answers = await both((by) => refused(address, toOptions(by)));
  for (const { status, body } of answers)
    expect([status, body]).toMatchObject([
      401,
      { error: { code: 'UNAUTHORIZED', message: expect.any(String) } },
    ]);
});

const calls: readonly [A2aMethod, Record<string, unknown>][] = [
  ['SendMessage', { message: toA2aMessage('Hello') }],
  ['SendStreamingMessage', { message: toA2aMessage('Hello') }],
  ['GetTask', { id: 'tsk_01' }],
  ['ListTasks', {}],
  ['CancelTask', { id: 'tsk_01' }],
  ['SubscribeToTask', { id: 'tsk_01' }],
  ['GetExtendedAgentCard', {}],
  ['ListTaskPushNotificationConfigs', { taskId: 'tsk_01' }],
];

describe.each(bindings)('A2A of other agents over %s, whether they exist or not', (binding) => {
  test.each(calls)('%s', async (method, params) => {
    const { handles, token } = await meetOnce();
    const answers = await Promise.all(
      handles.map((handle) =>
        createA2aClient(binding, a2aAddress(there.url, handle), token).call(method, params),
      ),
    );
    for (const answer of answers) expect([answer.status, reasonOf(answer)]).toEqual([401, 'UNAUTHORIZED']);
    expect(answers[0]?.error.message).toBe(answers[1]?.error.message);
  });
});

test('A2A 0.3 and the cards of other agents', async () => {
  for (const handle of (await meetOnce()).handles) {
    const legacy = a2aAddress(there.url, handle).replace('/a2a/', '/a2a/v0.3/');
    const body = { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'tsk_01' } };
    const answers = await both((by) => requestRest('POST', legacy, { token: by, key: null, body }));
    expect(answers.map(({ status }) => status)).toEqual([401, 401]);
    for (const address of [a2aAddress(there.url, handle), legacy]) {
      const card = `${address}/.well-known/agent-card.json`;
      const cards = await both((by) => requestRest('GET', card, { token: by }));
      expect(cards.map(({ status }) => status)).toEqual([401, 401]);
    }
  }
});

test.each(['/console', '/console/agents', '/console/remote-agents', '/console/conversations'])(
  'the console: %s',
  async (path) => {
    const { token } = await meetOnce();
    for (const headers of [{ authorization: `Bearer ${token}` }, { cookie: `ams_session=${token}` }]) {
      const { status, headers: got } = await fetch(`${there.url}${path}`, { headers, redirect: 'manual' });
      expect(status).toBe(303);
      expect(got.get('location')).toContain('/sign-in?to=');
    }
  },
);

test('nothing of all that was stored', async () => {
  const { bob } = await meetOnce();
  expect((await there.get(bob, '/threads')).body.threads).toEqual([]);
});
