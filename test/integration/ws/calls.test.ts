import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { catalogue } from '../../../src/operations/catalogue.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { useSharedService } from '../../support/service.ts';
import { call, type Caller, connectCaller, openConversation, rest, resultOf } from './caller.ts';

const service = useSharedService();

test('a call sends a message: its result equals the REST response, and the other agent gets the event', async () => {
  const { ann, bob, thread_id } = await openConversation(service);
  const sent = await call(ann, 'send_message', { thread_id, content: 'over the socket' });
  expect(sent).toMatchObject({ status: 201, output: { content: 'over the socket', sequence: 1 } });
  const event = await bob.socket.next(({ type }) => type === 'message.created');
  expect(event.data).toMatchObject({ id: sent.output.id });
  const page = await call(bob, 'list_messages', { thread_id, limit: 10 }, null);
  expect(page).toMatchObject({ status: 200, output: { messages: [sent.output] } });
  const byRest = await rest(service, bob, 'GET', `/threads/${thread_id}/messages?limit=10`);
  expect(page.output).toEqual(byRest.body);
});

test('every operation without a file runs', async () => {
  const { ann } = await openConversation(service);
  for (const { name, file } of catalogue) {
    const { status, error } = await call(ann, name, { unknown_field: 1 });
    const isFile = file !== undefined;
    expect([name, status]).toEqual([name, expect.toBeOneOf([400, 403])]);
    expect([name, /takes a file/.test(error.message)]).toEqual([name, isFile]);
  }
});

test('a call is refused with the same errors as over REST', async () => {
  const { ann, thread_id } = await openConversation(service);
  const stranger = await connectCaller(await service.agent(), service);
  const { handle } = await service.agent();
  const reader = await connectCaller(
    {
      ...ann,
      token: await service.token(ann.handle, { scopes: ['threads:read'] }),
    },
    service,
  );
  const refusals: [Caller, string, object, path: string, body: object][] = [
    [reader, 'send_message', { thread_id, content: 'x' }, `/threads/${thread_id}/messages`, { content: 'x' }],
    [
      stranger,
      'send_message',
      { thread_id, content: 'x' },
      `/threads/${thread_id}/messages`,
      { content: 'x' },
    ],
    [ann, 'send_message', { thread_id, content: '' }, `/threads/${thread_id}/messages`, { content: '' }],
    [
      ann,
      'send_message',
      { thread_id, content: 'a\0b' },
      `/threads/${thread_id}/messages`,
      { content: 'a\0b' },
    ],
    [
      ann,
      'send_message',
      { thread_id, content: 'x'.repeat(32_769) },
      `/threads/${thread_id}/messages`,
      { content: 'x'.repeat(32_769) },
    ],
    [
      ann,
      'create_thread',
      { with_handle: handle, colour: 1 },
      '/threads',
      { with_handle: handle, colour: 1 },
    ],
    [ann, 'create_thread', { with_handle: 'unknown.agent' }, '/threads', { with_handle: 'unknown.agent' }],
  ];
  for (const [caller, operation, input, path, body] of refusals) {
    const [result, response] = [
      await call(caller, operation, input),
      await rest(service, caller, 'POST', path, body),
    ];
    const { request_id: _, ...error } = result.error;
    const { request_id: __, ...expected } = response.body.error;
    expect([result.status, error]).toEqual([response.status, expected]);
  }
});

test('a repeated idempotency key returns the first result, over both transports', async () => {
  const { ann, thread_id } = await openConversation(service);
  const [key, input] = [randomUUID(), { thread_id, content: 'once' }];
  const first = await call(ann, 'send_message', input, key);
  expect(first.replayed).toBeUndefined();
  const again = await call(ann, 'send_message', input, key);
  expect(again).toMatchObject({ status: 201, replayed: true, output: first.output });
  const byRest = await rest(service, ann, 'POST', `/threads/${thread_id}/messages`, { content: 'once' }, key);
  expect([byRest.headers.get('idempotency-replayed'), byRest.body]).toEqual(['true', first.output]);
  expect(await call(ann, 'send_message', { thread_id, content: 'other' }, key)).toMatchObject({
    status: 422,
    error: { code: 'IDEMPOTENCY_MISMATCH' },
  });
  expect(await call(ann, 'send_message', input, null)).toMatchObject({
    status: 400,
    error: { code: 'IDEMPOTENCY_KEY_REQUIRED' },
  });
  expect((await call(ann, 'send_message', input, 'two words')).error.code).toBe('VALIDATION_ERROR');
  expect((await call(ann, 'get_thread', { thread_id }, null)).output.last_sequence).toBe(1);
});

const named: [what: string, frame: object, field: string][] = [
  ['no operation', {}, 'operation'],
  ['an unknown operation', { operation: 'send_telegram' }, 'operation'],
  ['an inherited name', { operation: 'constructor' }, 'operation'],
  ['a number as operation', { operation: 7 }, 'operation'],
  ['a file', { operation: 'create_attachment', input: { file: 'x' } }, 'operation'],
  ['a file in the input', { operation: 'upload_attachment', input: { text: 'x' } }, 'operation'],
  ['a list as input', { operation: 'get_me', input: [] }, 'input'],
  ['null as input', { operation: 'get_me', input: null }, 'input'],
  ['a number as key', { operation: 'get_me', idempotency_key: 7 }, 'idempotency_key'],
];

test.each(named)('a call with %s is refused with its id', async (_, frame, field) => {
  const ann = await connectCaller(await service.agent(), service);
  ann.socket.send({ type: 'call', id: 'one', ...frame });
  const { status, error } = await resultOf(ann, 'one');
  expect([status, error.code, error.message]).toEqual([
    400,
    'VALIDATION_ERROR',
    expect.stringContaining(field),
  ]);
  expect((await call(ann, 'get_me')).status).toBe(200);
});

const hostile: [what: string, frame: string | object][] = [
  ['no id', { type: 'call', operation: 'get_me' }],
  ['an empty id', { type: 'call', id: '', operation: 'get_me' }],
  ['a number as id', { type: 'call', id: 1, operation: 'get_me' }],
  ['an id too long', { type: 'call', id: 'x'.repeat(129), operation: 'get_me' }],
  ['an id that is not Unicode', { type: 'call', id: '\uD800', operation: 'get_me' }],
  ['too many values', { type: 'call', id: 'a', operation: 'get_me', input: { a: Array(10_001).fill(1) } }],
];

test.each(hostile)('a call with %s gets an error, and the connection stays open', async (_, frame) => {
  const ann = await connectCaller(await service.agent(), service);
  ann.socket.send(frame);
  const error = await ann.socket.next(() => true);
  expect(error).toMatchObject({ type: 'error', data: { code: 'VALIDATION_ERROR' } });
  expect((await call(ann, 'get_me')).status).toBe(200);
});

test('an unknown field of the frame, and an input nested too deeply, are refused', async () => {
  const ann = await connectCaller(await service.agent(), service);
  ann.socket.send({ type: 'call', id: 'one', operation: 'get_me', colour: 'red' });
  expect((await resultOf(ann, 'one')).error.message).toContain('colour');
  const deep = `${'{"a":'.repeat(4_000)}1${'}'.repeat(4_000)}`;
  ann.socket.send(
    `{"type":"call","id":"two","operation":"create_thread","idempotency_key":"k","input":{"metadata":${deep}}}`,
  );
  expect((await resultOf(ann, 'two')).status).toBe(400);
});

test('a message of full size with escapes fits into a frame', async () => {
  const { ann, thread_id } = await openConversation(service);
  const content = `${'\u0001'.repeat(32_000)}.`;
  expect(await call(ann, 'send_message', { thread_id, content })).toMatchObject({
    status: 201,
    output: { content },
  });
});

test('a ticket opens a connection that can call with the rights of its token', async () => {
  const agent = await service.agent();
  const { body } = await rest(service, agent, 'POST', '/realtime/tickets', {});
  const ann = { ...agent, socket: await connectWebSocket(service.url, { ticket: body.ticket }) };
  expect((await call(ann, 'get_me')).output.id).toBe(agent.id);
});
