import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callToolRaw, postRawMessage, readRpcResult } from '../../clients/mcp/client.ts';
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
afterAll(() => service.stop());

const call = (name: string, args: object) => callToolRaw(service.url, mcp, name, args);

/** Fills in what only the run knows. */
function fillIn(args: object): Record<string, unknown> {
  const text = JSON.stringify(args).replaceAll('THREAD', thread_id).replaceAll('FRIEND', friend.handle);
  return JSON.parse(text.replaceAll('UUID', randomUUID())) as Record<string, unknown>;
}

describe('what a model means is understood', () => {
  test.each<[string, string, object]>([
    ['a number in a string', 'list_threads', { limit: '5' }],
    ['a number with spaces', 'list_threads', { limit: ' 5 ' }],
    ['null for an optional argument', 'list_threads', { status: null, cursor: null }],
    ['every optional argument as null', 'list_contacts', { limit: null, cursor: null }],
    ['an upper-case handle', 'create_thread', { with_handle: '@FRIEND', subject: null }],
    ['@ before a handle', 'create_thread', { with_handle: '@FRIEND' }],
    ['a single participant as a string', 'create_thread', { participants: 'FRIEND' }],
    ['a JSON text for a list', 'create_thread', { participants: '["FRIEND"]' }],
    ['null beside the other form', 'create_thread', { with_handle: 'FRIEND', participants: null }],
    [
      'an object for the first message',
      'create_thread',
      { with_handle: 'FRIEND', initial_message: { content: 'hi' } },
    ],
    ['a number as content', 'send_message', { thread_id: 'THREAD', content: 42 }],
    ['null as reply_to', 'send_message', { thread_id: 'THREAD', content: 'x', reply_to: null }],
    [
      'an empty JSON list in a string',
      'send_message',
      { thread_id: 'THREAD', content: 'x', attachment_ids: '[]' },
    ],
    ['metadata as a JSON text', 'send_message', { thread_id: 'THREAD', content: 'x', metadata: '{"a":1}' }],
    ['a sequence in a string', 'mark_read', { thread_id: 'THREAD', up_to_sequence: '1' }],
    ['q for query', 'search_messages', { q: 'hello' }],
    ['query for query', 'search_messages', { query: 'hello' }],
    ['query for q', 'search_agents', { query: 'somebody' }],
    ['q for q', 'search_agents', { q: 'somebody' }],
    ['a longer wait than there is', 'wait_for_events', { wait_seconds: 3600, cursor: 'earliest' }],
    ['a type in place of a list', 'wait_for_events', { wait_seconds: 0, types: 'message.created' }],
    ['a wait in a string', 'wait_for_events', { wait_seconds: '0' }],
    ['types as a JSON text', 'wait_for_events', { wait_seconds: 0, types: '["message.created"]' }],
    ['earliest as a cursor', 'wait_for_events', { wait_seconds: 0, cursor: 'earliest' }],
    ['text for a file', 'upload_attachment', { filename: 'a.txt', text: 'plain' }],
    ['base64 for a file', 'upload_attachment', { filename: 'a.txt', content: 'cGxhaW4=' }],
    ['an empty object as arguments', 'whoami', {}],
    ['message_limit in a string', 'get_thread', { thread_id: 'THREAD', message_limit: '2' }],
  ])('%s', async (_name, tool, args) => {
    const { isError, value } = await call(tool, fillIn(args));
    expect(value).not.toHaveProperty('error');
    expect(isError).toBeFalsy();
  });
});

describe('an error names the remedy', () => {
  test.each<[string, string, object, RegExp]>([
    ['an unknown field', 'send_message', { thread_id: 'THREAD', text: 'x' }, /text: is unknown/],
    ['a misspelled field', 'send_message', { thread_id: 'THREAD', contnet: 'x' }, /did you mean content\?/],
    [
      'a field in another case',
      'send_message',
      { threadId: 'THREAD', content: 'x' },
      /did you mean thread_id\?/,
    ],
    [
      'a field of another tool',
      'get_thread',
      { thread_id: 'THREAD', limit: 3 },
      /did you mean message_limit\?/,
    ],
    ['a shortened field', 'get_thread', { thread: 'THREAD' }, /did you mean thread_id\?/],
    ['the list of fields', 'mark_read', { nothing: 1 }, /Fields: thread_id, up_to_sequence/],
    ['a missing field', 'get_thread', {}, /^thread_id: is required$/],
    ['a missing field as null', 'get_thread', { thread_id: null }, /^thread_id: is required$/],
    ['two missing fields', 'mark_read', {}, /^thread_id: is required; up_to_sequence: is required$/],
    ['missing content', 'send_message', { thread_id: 'THREAD' }, /content: is required/],
    [
      'empty content',
      'send_message',
      { thread_id: 'THREAD', content: '' },
      /content: can be empty only if the message has attachments/,
    ],
    ['a subject for a thread id', 'get_thread', { thread_id: 'Weekly report' }, /Call list_threads/],
    ['a handle for a thread id', 'send_message', { thread_id: 'FRIEND', content: 'x' }, /Call list_threads/],
    ['a message id for a thread id', 'get_thread', { thread_id: 'msg_01' }, /Call list_threads/],
    ['a limit of words', 'list_threads', { limit: 'many' }, /limit: must be a number/],
    ['a limit that is too high', 'list_threads', { limit: 1_000 }, /limit: must be at most 100/],
    ['a limit of zero', 'list_threads', { limit: 0 }, /limit: must be at least 1/],
    ['a fraction', 'list_threads', { limit: 1.5 }, /limit: must be an integer/],
    ['an unknown status', 'list_threads', { status: 'open' }, /status: must be one of: active/],
    [
      'an unknown event type',
      'wait_for_events',
      { types: ['message'] },
      /must be one of: .*message\.created/,
    ],
    ['a negative wait', 'wait_for_events', { wait_seconds: -1 }, /wait_seconds: must be at least 0/],
    ['an invented cursor', 'list_threads', { cursor: '2' }, /start without one/],
    ['an invented feed cursor', 'wait_for_events', { cursor: 'abc' }, /start without one/],
    [
      'text that is not base64',
      'upload_attachment',
      { filename: 'a.txt', content: 'plain text!' },
      /send it as text/,
    ],
    [
      'base64 without padding',
      'upload_attachment',
      { filename: 'a.txt', content: 'cGxhaW4' },
      /send it as text/,
    ],
    ['neither text nor content', 'upload_attachment', { filename: 'a.txt' }, /send either text/],
    [
      'both text and content',
      'upload_attachment',
      { filename: 'a.txt', text: 'a', content: 'YQ==' },
      /send either text/,
    ],
    ['no file name', 'upload_attachment', { text: 'a' }, /^filename: is required$/],
    [
      'both forms of members',
      'create_thread',
      { with_handle: 'FRIEND', participants: ['FRIEND'] },
      /either with_handle or participants/,
    ],
    ['no members', 'create_thread', { subject: 'x' }, /either with_handle or participants/],
    ['a handle without a dot', 'create_thread', { with_handle: 'somebody' }, /owner\.agent_name|handle/i],
    ['an unknown agent', 'create_thread', { with_handle: 'no.body' }, /No such agent/],
    ['oneself', 'request_contact', { handle: 'ME' }, /your own handle/],
    [
      'a key with spaces',
      'send_message',
      { thread_id: 'THREAD', content: 'x', idempotency_key: 'a b' },
      /idempotency_key: must be 1 to 255/,
    ],
  ])('%s', async (_name, tool, args, remedy) => {
    const filled = JSON.parse(JSON.stringify(fillIn(args)).replaceAll('"ME"', JSON.stringify(me.handle)));
    const { isError, value } = await call(tool, filled);
    expect(isError).toBe(true);
    const { message } = Object(value['error']);
    expect(message).toMatch(remedy);
    expect(message).not.toMatch(/expected|received|Invalid input|HTTP|request body|header/);
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
