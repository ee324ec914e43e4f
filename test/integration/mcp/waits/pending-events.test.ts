import { expect, onTestFinished, test } from 'vitest';
import { callToolRaw, connectSdkClient } from '../../../clients/mcp/client.ts';
import { askStateless } from '../../../clients/mcp/stateless-request.ts';
import { connectWebSocket } from '../../../clients/websocket.ts';
import { useMcpInstance } from '../instance.ts';

const instance = useMcpInstance();

const pendingOf = (value: unknown) => {
  const { pending_events, pending_events_more } = Object(value);
  return [pending_events, pending_events_more];
};

/** Two agents and their thread, which the writer opened. Its first event is the new contact. */
async function conversation(owner: string) {
  const writer = await instance.token(`${owner}.writer`);
  const reader = await instance.token(`${owner}.reader`);
  const { value } = await callToolRaw(instance.url, writer, 'create_thread', {
    with_handle: `${owner}.reader`,
  });
  const send = async (content: string, token = writer) => {
    const args = { thread_id: value['id'], content };
    return (await callToolRaw(instance.url, token, 'send_message', args)).value;
  };
  return { writer, reader, thread_id: value['id'], send };
}

/** A session of 2025-11-25. */
async function openSession(token: string) {
  const { client, close } = await connectSdkClient(instance.url, token);
  onTestFinished(close);
  return async (name: string, args: Record<string, unknown> = {}): Promise<Record<string, unknown>> =>
    Object((await client.callTool({ name, arguments: args })).structuredContent);
}

/** A caller of revision 2026-07-28. */
const callStateless =
  (token: string) =>
  async (name: string, args: Record<string, unknown> = {}): Promise<Record<string, unknown>> => {
    const request = { method: 'tools/call', params: { name, arguments: args } };
    return Object((await askStateless(instance.url, token, request)).result?.['structuredContent']);
  };

test.each([
  ['a session', openSession],
  ['2026-07-28', async (token: string) => callStateless(token)],
])('in %s, what is pending is what the next wait returns', async (era, open) => {
  const owner = `next${era.length}`;
  const { writer, reader, thread_id, send } = await conversation(owner);
  const [fresh, call] = [await open(writer), await open(reader)];
  for (const content of ['one', 'two', 'three', 'four']) await send(content);
  // The contact, and the thread, which the writer opened itself, but none of its own messages.
  expect(pendingOf(await fresh('whoami'))).toEqual([2, undefined]);
  const own = await fresh('wait_for_events', { wait_seconds: 0 });
  expect([Object(own['events']).length, ...pendingOf(own)]).toEqual([2, 0, undefined]);
  expect(pendingOf(await fresh('whoami'))).toEqual([0, undefined]);

  expect(pendingOf(await call('whoami'))).toEqual([5, undefined]);
  const page = await call('wait_for_events', { limit: 2 });
  expect([Object(page['events']).length, ...pendingOf(page)]).toEqual([2, 3, undefined]);
  // A filter leaves the others for a later wait.
  const filtered = await call('wait_for_events', { types: ['thread.updated'], wait_seconds: 0 });
  expect(pendingOf(filtered)).toEqual([3, undefined]);
  expect(pendingOf(await call('send_message', { thread_id, content: 'mine' }))).toEqual([3, undefined]);
  const rest = await call('wait_for_events');
  expect([Object(rest['events']).length, ...pendingOf(rest)]).toEqual([3, 0, undefined]);
  expect(await call('wait_for_events', { wait_seconds: 0 })).toMatchObject({ events: [], pending_events: 0 });

  // What a question has shown is not pending; the rest is.
  const question = await call('ask', { thread_id, content: 'Ready?', wait_seconds: 0 });
  await send('Ready.');
  await send('And more.');
  const args = { thread_id, after_sequence: question['after_sequence'] };
  const answer = await call('wait_for_reply', args);
  expect([Object(answer['reply']).content, ...pendingOf(answer)]).toEqual(['Ready.', 1, undefined]);
  const last = await call('wait_for_events');
  expect(Object(last['events'])).toMatchObject([{ data: { content: 'And more.' } }]);
  expect(await call('acknowledge_events', { cursor: last['cursor'] })).toEqual({ pending_events: 0 });
});

test('without a session it is counted after the acknowledged position, also on a WebSocket, without own messages', async () => {
  const { writer, reader, send } = await conversation('sessionless');
  for (const content of ['one', 'two']) await send(content);
  await send('mine', reader);
  const call = async (name: string, args = {}) => (await callToolRaw(instance.url, reader, name, args)).value;
  const readyPending = async () => {
    const socket = await connectWebSocket(instance.url, {
      token: await instance.token('sessionless.reader', { audience: 'ws' }),
    });
    await socket.close();
    return pendingOf(socket.ready);
  };
  expect(pendingOf(await call('whoami'))).toEqual([3, undefined]);
  expect(await readyPending()).toEqual([3, undefined]);
  const page = await call('wait_for_events', { limit: 1 });
  expect(pendingOf(page)).toEqual([3, undefined]);
  expect(await call('acknowledge_events', { cursor: page['cursor'] })).toEqual({ pending_events: 2 });
  expect(await readyPending()).toEqual([2, undefined]);
  // The contact, the thread and the message of the reader.
  expect(pendingOf((await callToolRaw(instance.url, writer, 'whoami')).value)).toEqual([3, undefined]);
});

test('over 100 it says that there are more; a hundred and some own messages hide nothing', async () => {
  const { writer, reader, send } = await conversation('many');
  const [call, sender] = [await openSession(reader), await openSession(writer)];
  await call('wait_for_events', { wait_seconds: 0 });
  const contents = Array.from({ length: 101 }, (_, index) => `message ${index}`);
  for (const content of contents.slice(1)) await send(content);
  expect(pendingOf(await call('whoami'))).toEqual([100, undefined]);
  await send('one too many');
  expect(pendingOf(await call('whoami'))).toEqual([100, true]);
  await send('an answer', reader);
  // Of 104 events of the sender, the contact, the thread and the answer are not its own messages.
  expect(pendingOf(await sender('whoami'))).toEqual([3, undefined]);
  const all = await call('wait_for_events', { limit: 100 });
  expect(pendingOf(all)).toEqual([1, undefined]);
});

test('a long history of own messages is read in parts, and what may be more is said', async () => {
  const { writer, reader, send } = await conversation('history');
  await send('only one');
  // 3,000 more entries of the same message, which is the writer's own.
  await instance.query(
    `with me as (select id from agents where canonical_handle = 'history.writer'),
       last as (select f.number, f.event_id from feed f join me on f.agent_id = me.id order by number desc limit 1),
       more as (insert into feed (agent_id, number, event_id)
         select me.id, last.number + n, last.event_id from me, last, generate_series(1, 3000) n)
     update feed_heads h set last_number = h.last_number + 3000 from me where h.agent_id = me.id`,
    [],
  );
  const call = await openSession(writer);
  const [pending, more] = pendingOf(await call('whoami'));
  expect([pending, more]).toEqual([2, true]);
  // It continues where it stopped.
  expect(pendingOf(await call('whoami'))).toEqual([2, undefined]);
  await send('an answer', reader);
  expect(pendingOf(await call('whoami'))).toEqual([3, undefined]);
});

test('the result of a failed question has a position that works', async () => {
  const { reader } = await conversation('failed');
  const message = (name: string, args: object) =>
    askStateless(instance.url, reader, { method: 'tools/call', params: { name, arguments: args } });
  for (const [name, args] of [
    ['ask', { thread_id: 'thd_none', content: 'hi' }],
    ['wait_for_reply', { thread_id: 'thd_none', after_sequence: 0 }],
    ['wait_for_events', { cursor: 'nothing' }],
    ['acknowledge_events', { cursor: 'nothing' }],
  ] as const) {
    const { result } = await message(name, args);
    expect(result).toMatchObject({ isError: true, _meta: { cursor: expect.any(String) } });
    const { cursor } = Object(result?.['_meta']);
    const page = await message('wait_for_events', { cursor, wait_seconds: 0 });
    expect(page.result).not.toHaveProperty('isError');
  }
});
