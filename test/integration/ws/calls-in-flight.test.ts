import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Frame } from '../../clients/websocket.ts';
import {
  type ServiceOptions,
  startService,
  type TestService,
  useSharedService,
} from '../../support/service.ts';
import { call, connectCaller, openConversation, rest, type Result, resultOf, waiting } from './caller.ts';
import { stopAfterTest } from '../../support/use.ts';

const service = useSharedService();

async function start(options: ServiceOptions): Promise<TestService> {
  return stopAfterTest(await startService({ worker: false, ...options }));
}

test('an id can be used again only after its call has ended', async () => {
  const { ann, bob, thread_id } = await openConversation(service);
  const ask = {
    type: 'call',
    id: 'mine',
    operation: 'wait_for_reply',
    input: { thread_id, after_sequence: 0 },
  };
  ann.socket.send(ask);
  await waiting(1, service);
  ann.socket.send({ ...ask, operation: 'get_me', input: {} });
  const error = await ann.socket.next(({ type }) => type === 'error');
  expect(error.data).toMatchObject({ message: expect.stringContaining('in flight') });
  await call(bob, 'send_message', { thread_id, content: 'here' });
  expect((await resultOf(ann, 'mine')).output.reply.content).toBe('here');
  ann.socket.send({ type: 'call', id: 'mine', operation: 'get_me' });
  expect((await resultOf(ann, 'mine')).output.id).toBe(ann.id);
});

test('calls in flight are bounded, and delay neither events nor pings', async () => {
  const of = await start({ overrides: { webSocketLimits: { calls: 2 } } });
  const { ann, bob, thread_id } = await openConversation(of);
  const wait = (id: string) =>
    ann.socket.send({
      type: 'call',
      id,
      operation: 'wait_for_reply',
      input: { thread_id, after_sequence: 0 },
    });
  wait('one');
  wait('two');
  await waiting(2, of);
  const refused = await call(ann, 'get_me');
  expect(refused).toMatchObject({ status: 429, retry_after: 1, error: { code: 'RATE_LIMITED' } });
  ann.socket.send({ type: 'ping' });
  await ann.socket.next(({ type }) => type === 'pong');
  await call(bob, 'create_thread', { with_handle: ann.handle });
  await ann.socket.next(({ type }) => type === 'thread.created');
  await call(bob, 'send_message', { thread_id, content: 'here' });
  const replies = () => ann.socket.frames.filter(({ id }) => id === 'one' || id === 'two');
  await ann.socket.waitUntil(() => replies().length === 2);
  for (const reply of replies()) expect(reply).toMatchObject({ output: { reply: { content: 'here' } } });
  expect((await call(ann, 'get_me')).status).toBe(200);
});

test('accepted calls do not count as frames; refused ones do', async () => {
  const of = await start({ overrides: { webSocketLimits: { frames_per_second: 5 } } });
  const ann = await connectCaller(await of.agent(), of);
  const ids = Array.from({ length: 40 }, (_, at) => `call-${at}`);
  for (const id of ids) ann.socket.send({ type: 'call', id, operation: 'get_me' });
  await ann.socket.waitUntil(() => ann.socket.frames.length === ids.length);
  expect(new Set(ann.socket.frames.map(({ id }) => id))).toEqual(new Set(ids));
  for (const id of ids) ann.socket.send({ type: 'call', id, operation: 'nothing' });
  expect(await ann.socket.closed).toMatchObject({ code: 1008 });
});

test('a call counts against the rate limits of REST', async () => {
  const of = await start({ env: { RATE_LIMITS: 'send_message=2/60' } });
  const { ann, thread_id } = await openConversation(of);
  const send = () => call(ann, 'send_message', { thread_id, content: 'x' });
  expect([(await send()).status, (await send()).status]).toEqual([201, 201]);
  const refused = await send();
  expect(refused).toMatchObject({ status: 429, error: { code: 'RATE_LIMITED' } });
  expect(refused.retry_after).toBeGreaterThan(0);
  const byRest = await rest(of, ann, 'POST', `/threads/${thread_id}/messages`, { content: 'x' });
  expect(byRest.status).toBe(429);
});

test('a wait ends with its connection; a write in flight is stored once', async () => {
  const { ann, thread_id } = await openConversation(service);
  const key = randomUUID();
  ann.socket.send({
    type: 'call',
    id: 'wait',
    operation: 'wait_for_reply',
    input: { thread_id, after_sequence: 9 },
  });
  await waiting(1, service);
  const input = { thread_id, content: 'once' };
  ann.socket.send({ type: 'call', id: 'send', operation: 'send_message', input, idempotency_key: key });
  await ann.socket.close();
  await waiting(0, service);
  const again = await rest(service, ann, 'POST', `/threads/${thread_id}/messages`, { content: 'once' }, key);
  expect(again).toMatchObject({ status: 201, body: { sequence: 1 } });
});

test('a revoked token ends the connection and its waits', async () => {
  const { ann, thread_id } = await openConversation(service);
  ann.socket.send({
    type: 'call',
    id: 'wait',
    operation: 'wait_for_reply',
    input: { thread_id, after_sequence: 0 },
  });
  await waiting(1, service);
  const { token_id } = await service.parts.live.tokens.verify(ann.token, 'ws');
  await service.parts.live.publishRevocations([{ token_id }]);
  expect(await ann.socket.closed).toMatchObject({ code: 1008 });
  await waiting(0, service);
  expect(ann.socket.frames.filter(({ id }) => id === 'wait')).toEqual([]);
});

test('a shutdown answers calls that wait, then closes', async () => {
  const of = await startService({ worker: false });
  const { ann, thread_id } = await openConversation(of);
  ann.socket.send({
    type: 'call',
    id: 'wait',
    operation: 'wait_for_reply',
    input: { thread_id, after_sequence: 0 },
  });
  await waiting(1, of);
  await of.stop();
  expect(await ann.socket.closed).toMatchObject({ code: 1001 });
  expect(ann.socket.frames.at(-1)).toMatchObject({
    type: 'result',
    id: 'wait',
    status: 200,
    output: { reply: null },
  });
});

test('a client that leaves too many bytes of results unread is closed', async () => {
  const webSocketLimits = { unsent_bytes: 256 * 1024, unsent_ms: 1, drain_ms: 600_000, close_ms: 600_000 };
  const of = await start({ overrides: { webSocketLimits } });
  const { ann, thread_id } = await openConversation(of);
  const content = 'x'.repeat(30_000);
  for (let count = 0; count < 20; count += 1) await call(ann, 'send_message', { thread_id, content });
  const countOpen = () => of.parts.live.realtime.stats().get('ws') ?? 0;
  const open = countOpen();
  ann.socket.pause();
  for (let count = 0; count < 60; count += 1)
    ann.socket.send({ type: 'call', id: `page-${count}`, operation: 'list_messages', input: { thread_id } });
  await expect.poll(countOpen, { timeout: 30_000 }).toBe(open - 1);
  ann.socket.resume();
  expect(await ann.socket.closed).toMatchObject({ code: 4008 });
});

test('a client that reads gets results of more bytes than may stay unsent', async () => {
  const of = await start({ overrides: { webSocketLimits: { unsent_bytes: 1_024, unsent_ms: 600_000 } } });
  const { ann, thread_id } = await openConversation(of);
  const content = 'x'.repeat(30_000);
  for (let count = 0; count < 20; count += 1) await call(ann, 'send_message', { thread_id, content });
  for (let count = 0; count < 12; count += 1)
    ann.socket.send({ type: 'call', id: `page-${count}`, operation: 'list_messages', input: { thread_id } });
  const pages = () => ann.socket.frames.filter(({ id }) => id?.startsWith('page-') === true);
  await ann.socket.waitUntil(() => pages().length === 12);
  for (const page of pages()) expect((page as Result).status).toBe(200);
});

test('results larger than the buffer arrive, with other replies between them', async () => {
  const of = await start({ overrides: { webSocketLimits: { buffered_bytes: 1_024, calls: 4 } } });
  const { ann, thread_id } = await openConversation(of);
  const content = 'x'.repeat(30_000);
  for (let count = 0; count < 20; count += 1) await call(ann, 'send_message', { thread_id, content });
  ann.socket.pause();
  for (let count = 0; count < 4; count += 1) {
    ann.socket.send({
      type: 'call',
      id: `page-${count}`,
      operation: 'list_messages',
      input: { thread_id, limit: 50 },
    });
    ann.socket.send({ type: 'ping' });
  }
  ann.socket.resume();
  const isPage = ({ id }: Frame) => id?.startsWith('page-') === true;
  await ann.socket.waitUntil(
    () =>
      ann.socket.frames.filter(isPage).length === 4 &&
      ann.socket.frames.filter(({ type }) => type === 'pong').length === 4,
  );
  for (const frame of ann.socket.frames.filter(isPage))
    expect((frame as Result).output.messages).toHaveLength(20);
});
