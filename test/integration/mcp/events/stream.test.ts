import { expect, test } from 'vitest';
import { callToolRaw } from '../../../clients/mcp/client.ts';
import { declaresEvents, type EventQuery, pollEvents, streamEvents } from '../../../clients/mcp/events.ts';
import { postStateless } from '../../../clients/mcp/stateless-request.ts';
import { createTestDatabase } from '../../../support/servers/postgres/database.ts';
import { startMcpInstance, useMcpPair } from '../instance.ts';
import { stopAfterTest } from '../../../support/use.ts';

const [first, second] = useMcpPair({ receipts: true }, { heartbeat_ms: 50 });

const meta = { _meta: { 'io.modelcontextprotocol/subscriptionId': 'events' } };
const name = 'message.created';

async function open(token: string, query: EventQuery, { at = first, capabilities = {} } = {}) {
  return stopAfterTest(await streamEvents(at.url, token, query, capabilities));
}

const call = async (token: string, tool: string, args: object) =>
  (await callToolRaw(first.url, token, tool, args)).value;

async function createPair(owner: string) {
  const [reader, writer] = [await first.token(`reader.${owner}`), await first.token(`writer.${owner}`)];
  const { id } = await call(writer, 'create_thread', { with_handle: `reader.${owner}` });
  const thread_id = String(id);
  const say = (content: string) => call(writer, 'send_message', { thread_id, content });
  const { cursor } = await pollEvents(first.url, reader, { name, cursor: null });
  return { reader, writer, thread_id, say, cursor };
}

test('a stream says that it is active, then sends each event with its cursor, from every process', async () => {
  const { reader, say } = await createPair('streams');
  const stream = await open(reader, { name, cursor: null });
  const [active] = await stream.frames(1);
  expect(active).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/events/active',
    params: { cursor: expect.any(String), truncated: false, ...meta },
  });
  await say('Hello.');
  const [, event] = await stream.frames(2);
  expect(event).toMatchObject({
    method: 'notifications/events/event',
    params: {
      eventId: expect.stringMatching(/^evt_/),
      name,
      timestamp: expect.any(String),
      data: { content: 'Hello.', sender: { canonical_handle: 'writer.streams' } },
      cursor: expect.any(String),
      ...meta,
    },
  });
  // The stream at the other process continues after it, and a poll too.
  await say('Again.');
  const later = await open(reader, { name, cursor: event?.params?.cursor ?? '' }, { at: second });
  await expect.poll(() => later.raw()).toContain('"content":"Again."');
  expect(later.raw()).not.toContain('"content":"Hello."');
});

test('heartbeats carry the position, also over events that do not match', async () => {
  const { reader, say, thread_id } = await createPair('beats');
  const stream = await open(
    reader,
    { name, cursor: null, arguments: { only_mentions: true } },
    { at: second },
  );
  const frames = await stream.frames(2);
  expect(frames[1]).toMatchObject({ method: 'notifications/events/heartbeat', params: meta });
  await say('Without a mention.');
  const { cursor } = await pollEvents(first.url, reader, { name, cursor: null });
  await expect
    .poll(async () => {
      const text =
        stream
          .raw()
          .split('\n')
          .findLast((line) => line.includes('events/heartbeat')) ?? '';
      return text.includes(cursor);
    })
    .toBe(true);
  expect(stream.raw()).not.toContain(thread_id);
});

test('two agents with the same subscription never learn of each other', async () => {
  const ada = await createPair('isolated');
  const bob = await first.token('stranger.isolated');
  const args = { thread_id: ada.thread_id, with_handle: 'writer.isolated' };
  const [hers, his] = await Promise.all([
    open(ada.reader, { name, cursor: null, arguments: args }),
    open(bob, { name, cursor: null, arguments: args }, { at: second }),
  ]);
  await Promise.all([hers.frames(1), his.frames(1)]);
  await ada.say('For Ada.');
  expect((await hers.frames(2))[1]).toMatchObject({ params: { data: { content: 'For Ada.' } } });
  const beats = (await his.frames(4)).map(({ method }) => method);
  expect(new Set(beats.slice(1))).toEqual(new Set(['notifications/events/heartbeat']));
  expect(his.raw()).not.toContain('For Ada.');
});

test('a member that was removed gets no further events', async () => {
  const { reader, writer, say, thread_id } = await createPair('removed');
  const stream = await open(reader, { name, cursor: null });
  await say('While a member.');
  await stream.frames(2);
  await first.query(
    `with reader as (update feed_heads set relation_version = relation_version + 1
       where agent_id = (select id from agents where canonical_handle = 'reader.removed') returning agent_id)
     delete from thread_members where thread_id = $1 and agent_id = (select agent_id from reader)`,
    [thread_id],
  );
  await say('Afterwards.');
  const other = await call(writer, 'create_thread', { with_handle: 'reader.removed' });
  await call(writer, 'send_message', { thread_id: other['id'], content: 'In another thread.' });
  const [, , next] = await stream.frames(3);
  expect(next).toMatchObject({ params: { data: { content: 'In another thread.' } } });
});

test.each([
  { dialect: 'the sketch', capabilities: {}, code: -32_012 },
  { dialect: 'SEP-3415', capabilities: declaresEvents, code: -32_024 },
])('a revoked token ends the subscription, in the dialect of $dialect', async ({ capabilities, code }) => {
  const token = await first.token('reader.revoked');
  const stream = await open(token, { name, cursor: null }, { capabilities });
  await stream.frames(1);
  first.revoke('reader.revoked');
  await stream.ended;
  expect((await stream.frames(3)).slice(1)).toMatchObject([
    { method: 'notifications/events/terminated', params: { error: { code, message: 'Forbidden' }, ...meta } },
    { id: 'events', result: { resultType: 'complete' } },
  ]);
});

test('a stream that stops with its process can be opened again: it ends without an error', async () => {
  const third = stopAfterTest(await startMcpInstance(stopAfterTest(await createTestDatabase()).url));
  const token = await third.token('reader.stops');
  const stream = await streamEvents(third.url, token, { name, cursor: null });
  await stream.frames(1);
  await third.drain();
  await stream.ended;
  expect((await stream.frames(2))[1]).toMatchObject({ id: 'events', result: { resultType: 'complete' } });
});

test('a gap is an active frame with truncated, and the stream continues', async () => {
  const { reader, say, cursor } = await createPair('gaps');
  await say('Lost.');
  await first.query(
    `delete from feed where agent_id = (select id from agents where canonical_handle = 'reader.gaps')`,
    [],
  );
  await say('Kept.');
  const stream = await open(reader, { name, cursor });
  expect(await stream.frames(2)).toMatchObject([
    { method: 'notifications/events/active', params: { truncated: true } },
    { method: 'notifications/events/event', params: { data: { content: 'Kept.' } } },
  ]);
});

test('maxAgeMs leaves out what is older, and says so', async () => {
  const { reader, say, cursor } = await createPair('ages');
  await say('Too old.');
  await first.query(
    `update events set created_at = created_at - 600000
     where message_id in (select id from messages where content = 'Too old.')`,
    [],
  );
  await say('New.');
  const old = await open(reader, { name, cursor, maxAgeMs: 60_000 }, { at: second });
  await expect.poll(() => old.raw()).toContain('"content":"New."');
  expect((await old.frames(1))[0]).toMatchObject({ params: { truncated: true } });
  expect(old.raw()).not.toContain('Too old.');
  const all = await open(reader, { name, cursor, maxAgeMs: 3_600_000 }, { at: second });
  expect((await all.frames(1))[0]).toMatchObject({ params: { truncated: false } });
});

test('a stream opens with truncated when nothing in a page tells whether events are too old', async () => {
  const { reader, say, cursor } = await createPair('undecided');
  await say('A message.');
  await first.query(
    `with last as (select * from feed where agent_id = (select id from agents where canonical_handle = 'reader.undecided')
       order by number desc limit 1),
     moved as (update feed_heads set last_number = last_number + 6000 where agent_id = (select agent_id from last))
     insert into feed (agent_id, number, event_id) select agent_id, number + n, event_id from last, generate_series(1, 6000) n`,
    [],
  );
  const query = { name, cursor, maxAgeMs: 3_600_000, arguments: { only_mentions: true } };
  const stream = await open(reader, query, { at: second });
  expect((await stream.frames(1))[0]).toMatchObject({
    method: 'notifications/events/active',
    params: { truncated: true },
  });
});

test('a client that cannot read streams is refused', async () => {
  const { reader } = await createPair('refused');
  const answer = await postStateless(first.url, reader, {
    method: 'events/stream',
    params: { name },
    headers: { Accept: 'application/json' },
  });
  expect(answer).toMatchObject({ status: 406, json: { id: 1, error: { code: -32_000 } } });
});
