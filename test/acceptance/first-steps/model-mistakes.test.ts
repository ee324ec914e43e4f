import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callToolRaw, postRawMessage, readRpcResult } from '../../clients/mcp/client.ts';
import { refused, understood } from './mistakes.ts';
import { startService, type TestAgent, type TestService } from '../../support/service.ts';

let service: TestService;
let me: TestAgent;
let friend: TestAgent;
let mcp: string;
let thread_id: string;
beforeAll(async () => {
  service = await startService({ worker: false });
  [me, friend] = await Promise.all([service.agent(), service.agent()]);
  mcp = await service.token(me.handle, { audience: 'mcp' });
  const { value } = await call('create_thread', { with_handle: friend.handle, initial_message: 'hello' });
  thread_id = String(value['id']);
});
/** The mistakes after which a model gets on with nothing but the answer. */
const leadsOn = new Set<string>();
afterAll(async () => {
  const count = understood.length + refused.length;
  process.stderr.write(`\nmistakes of a model that lead on by themselves: ${leadsOn.size} of ${count}\n`);
  await service.stop();
});

const call = (name: string, args: object) => callToolRaw(service.url, mcp, name, args);

/** Fills in what only the run knows. */
function fillIn(args: object): Record<string, unknown> {
  const values = { THREAD: thread_id, FRIEND: friend.handle, ME: me.handle, UUID: randomUUID() };
  const text = JSON.stringify(args).replaceAll(
    /THREAD|FRIEND|ME|UUID/g,
    (name) => values[name as keyof typeof values],
  );
  return JSON.parse(text) as Record<string, unknown>;
}

describe('input with an obvious meaning is accepted', () => {
  test.each(understood)('%s', async (name, tool, args) => {
    const { isError, value } = await call(tool, fillIn(args));
    expect(value).not.toHaveProperty('error');
    expect(isError).toBeFalsy();
    leadsOn.add(name);
  });
});

describe('an error says what to do', () => {
  test.each(refused)('%s', async (name, tool, args, remedy) => {
    const { isError, value } = await call(tool, fillIn(args));
    expect(isError).toBe(true);
    const { message } = Object(value['error']);
    expect(message).toMatch(remedy);
    expect(message).not.toMatch(/expected|received|Invalid input|HTTP|request body|header/);
    leadsOn.add(name);
  });
});

test('published input schemas have neither alternatives nor null, and are shown as the scopes allow', async () => {
  const list = async (token: string) => {
    const answer = await postRawMessage(service.url, token, { jsonrpc: '2.0', id: 1, method: 'tools/list' });
    return Object(readRpcResult(answer).result?.['tools']) as {
      name: string;
      inputSchema: object;
      description: string;
    }[];
  };
  const tools = await list(mcp);
  for (const { name, inputSchema, description } of tools) {
    expect(JSON.stringify(inputSchema), name).not.toMatch(/anyOf|oneOf|"null"/);
    // What the tool does, when to use it, and when not.
    const sentences = description.match(/[.?!](?= |$)/g) ?? [];
    expect(sentences.length, `${name}: ${description}`).toBeGreaterThanOrEqual(2);
    expect(sentences.length, `${name}: ${description}`).toBeLessThanOrEqual(4);
    expect(description, name).toMatch(/\b(?:Use it|Call it|Close a thread)\b/);
    expect(description, name).toMatch(/\bnot\b|\b[a-z]+(?:_[a-z]+)+\b/);
  }
  const reader = await service.token(me.handle, { audience: 'mcp', scopes: ['threads:read'] });
  const names = (await list(reader)).map(({ name }) => name);
  expect(names).toContain('get_thread');
  expect(names).toContain('wait_for_events');
  expect(names).not.toContain('send_message');
  expect(names.length).toBeLessThan(tools.length);
});

test('results carry times as text', async () => {
  const sent = await call('send_message', { thread_id, content: 'seen' });
  expect(Object.keys(sent.value).toSorted()).toEqual(
    ['created_at', 'created_at_text', 'cursor', 'id', 'pending_events', 'sequence', 'thread_id'].toSorted(),
  );
  expect(Date.parse(String(sent.value['created_at_text']))).toBe(sent.value['created_at']);
});

test.each<[string, object]>([
  ['whoami', {}],
  ['create_thread', { with_handle: 'FRIEND' }],
  ['send_message', { thread_id: 'THREAD', content: 'seen' }],
  ['ask', { thread_id: 'THREAD', content: 'seen?', wait_seconds: 0 }],
  ['wait_for_reply', { thread_id: 'THREAD', after_sequence: 1, wait_seconds: 0 }],
  ['wait_for_events', { wait_seconds: 0 }],
])('the result of %s shows cursor and pending_events to the model', async (tool, args) => {
  const { isError, value, structured } = await call(tool, fillIn(args));
  expect(isError).toBe(false);
  expect(value).toMatchObject({ cursor: expect.any(String), pending_events: expect.any(Number) });
  expect(structured).toEqual(value);
});
