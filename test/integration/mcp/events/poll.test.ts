import { expect, onTestFinished, test } from 'vitest';
import { eventTypes } from '../../../../packages/core/src/events/list.ts';
import { callToolRaw } from '../../../clients/mcp/client.ts';
import { declaresEvents, type EventQuery, pollEvents } from '../../../clients/mcp/events.ts';
import { askStateless } from '../../../clients/mcp/stateless-request.ts';
import { useMcpInstance } from '../instance.ts';

const instance = useMcpInstance({ receipts: true });

const call = async (token: string, tool: string, args: object) =>
  (await callToolRaw(instance.url, token, tool, args)).value;

const poll = (token: string, query: EventQuery) => pollEvents(instance.url, token, query);

/** Where a client starts that has seen nothing. */
const start = async (token: string, name = 'message.created') =>
  (await poll(token, { name, cursor: null })).cursor;

/** A thread of two new agents, with what the writer can do in it. */
async function createPair(owner: string) {
  const [reader, writer] = [await instance.token(`reader.${owner}`), await instance.token(`writer.${owner}`)];
  const { id } = await call(writer, 'create_thread', { with_handle: `reader.${owner}` });
  const thread_id = String(id);
  const say = (content: string) => call(writer, 'send_message', { thread_id, content });
  return { reader, writer, thread_id, say };
}

const texts = (page: { events: { data: Record<string, unknown> }[] }) =>
  page.events.map(({ data }) => data['content']);

test('both dialects find the capability, and events/list names what the scopes show', async () => {
  const token = await instance.token('all.lists', { scopes: ['realtime:read'] });
  const { result } = await askStateless(instance.url, token, { method: 'server/discover' });
  expect(result?.['capabilities']).toMatchObject({
    events: {},
    extensions: { 'io.modelcontextprotocol/events': {}, 'io.modelcontextprotocol/tasks': {} },
  });
  const list = (of: string, params = {}) => askStateless(instance.url, of, { method: 'events/list', params });
  const all = (await list(token)).result;
  expect(all).toMatchObject({ resultType: 'complete', ttlMs: 300_000, cacheScope: 'private' });
  const events = all?.['events'] as { name: string; delivery: string[]; inputSchema: object }[];
  expect(events.map(({ name }) => name)).toEqual(eventTypes);
  expect(events[0]).toMatchObject({
    name: 'message.created',
    description: expect.any(String),
    delivery: ['poll', 'push', 'webhook'],
    inputSchema: { type: 'object', properties: { thread_id: {}, with_handle: {}, only_mentions: {} } },
    payloadSchema: { type: 'object', properties: { content: { type: 'string' } } },
  });
  const few = await instance.token('few.lists', { scopes: ['contacts:read'] });
  const names = ((await list(few)).result?.['events'] as { name: string }[] | undefined)?.map(
    ({ name }) => name,
  );
  expect(names).toContain('contact.added');
  expect(names).not.toContain('message.created');
  expect((await list(token, { cursor: 'none' })).error).toMatchObject({ code: -32_602 });
});

test('an error of the service has the data of every other error, with the time to wait', async () => {
  const token = await instance.token('outage.reader');
  await instance.query('alter table feed_heads rename to absent', []);
  onTestFinished(
    async () => void (await instance.query('alter table if exists absent rename to feed_heads', [])),
  );
  const params = { name: 'message.created' };
  const { error } = await askStateless(instance.url, token, { method: 'events/poll', params });
  await instance.query('alter table absent rename to feed_heads', []);
  expect(error).toMatchObject({
    code: -32_603,
    data: { code: 'UNAVAILABLE', retry_after: 1, request_id: expect.any(String) },
  });
});

test('a poll starts now, returns what happens after it, and continues from its cursor and any other', async () => {
  const { reader, writer, say } = await createPair('polls');
  await say('Before.');
  const first = await poll(reader, { name: 'message.created', cursor: null });
  expect(first).toMatchObject({ events: [], truncated: false, hasMore: false, nextPollMs: 5_000 });
  const sent = [await say('One.'), await say('Two.'), await say('Three.')];
  const page = await poll(reader, { name: 'message.created', cursor: first.cursor, maxEvents: 2 });
  expect(texts(page)).toEqual(['One.', 'Two.']);
  expect(page).toMatchObject({ truncated: false, hasMore: true });
  expect(page.events[0]).toMatchObject({
    eventId: expect.stringMatching(/^evt_/),
    name: 'message.created',
    timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    data: { id: sent[0]?.['id'], sender: { canonical_handle: 'writer.polls' } },
  });
  const rest = await poll(reader, { name: 'message.created', cursor: page.cursor });
  expect(texts(rest)).toEqual(['Three.']);
  // The same cursor continues with the tool, and the one of the tool with the poll.
  const waited = await call(reader, 'wait_for_events', { cursor: page.cursor, wait_seconds: 0 });
  expect((waited['events'] as { id: string }[]).map(({ id }) => id)).toContain(rest.events[0]?.eventId);
  const none = await poll(reader, { name: 'message.created', cursor: String(waited['cursor']) });
  expect(none.events).toEqual([]);
  // It is the agent's own message for the writer.
  expect(texts(await poll(writer, { name: 'message.created', cursor: 'earliest' }))).toEqual([]);
});

test('polled messages count as delivered', async () => {
  const { reader, writer, say } = await createPair('receipts');
  const [cursor, seen] = [await start(reader), await start(writer, 'message.delivered')];
  await say('Hello.');
  await poll(reader, { name: 'message.created', cursor });
  await expect
    .poll(async () => (await poll(writer, { name: 'message.delivered', cursor: seen })).events)
    .toHaveLength(1);
});

test('filters: a thread, another agent, and mentions of the own handle', async () => {
  const { reader, writer, thread_id, say } = await createPair('filters');
  const cursor = await start(reader);
  const other = await instance.token('other.filters');
  const second = await call(other, 'create_thread', { with_handle: 'reader.filters' });
  await say('Hello @reader.filters, and all.');
  await say('Not @reader.filters2, not x@reader.filters, not @reader.filters.x.');
  await call(other, 'send_message', { thread_id: second['id'], content: 'Ask @READER.FILTERS.' });
  const read = async (args: Record<string, unknown>) =>
    texts(await poll(reader, { name: 'message.created', cursor, arguments: args }));
  expect(await read({})).toHaveLength(3);
  expect(await read({ thread_id })).toHaveLength(2);
  expect(await read({ with_handle: '@Other.Filters' })).toEqual(['Ask @READER.FILTERS.']);
  expect(await read({ only_mentions: true })).toEqual([
    'Hello @reader.filters, and all.',
    'Ask @READER.FILTERS.',
  ]);
  expect(await read({ only_mentions: true, thread_id })).toHaveLength(1);
  // A thread or agent that does not exist looks like one without events.
  expect(await read({ thread_id: 'thd_01ARZ3NDEKTSV4RRFFQ69G5FAV' })).toEqual([]);
  expect(await read({ with_handle: 'no.body' })).toEqual([]);
  const threads = await poll(reader, {
    name: 'thread.created',
    cursor,
    arguments: { with_handle: 'other.filters' },
  });
  expect(threads.events.map(({ data }) => data['id'])).toEqual([second['id']]);
  await call(writer, 'update_thread', { thread_id, subject: 'News' });
  const updated = { name: 'thread.updated', cursor, arguments: { with_handle: 'writer.filters' } };
  expect((await poll(reader, updated)).events).toHaveLength(1);
});

test('one agent never gets the events of another, nor with its cursor', async () => {
  const { reader, thread_id, say } = await createPair('alone');
  const stranger = await instance.token('stranger.alone');
  const [cursor, own] = [await start(reader), await start(stranger)];
  await say('For the reader.');
  const args = { thread_id, with_handle: 'writer.alone' };
  const page = await poll(stranger, { name: 'message.created', cursor: own, arguments: args });
  expect(page).toMatchObject({ events: [], cursor: own, hasMore: false });
  const params = { name: 'message.created', cursor };
  const { error } = await askStateless(instance.url, stranger, { method: 'events/poll', params });
  expect(error).toMatchObject({ code: -32_602, data: { code: 'INVALID_CURSOR' } });
});

test('maxAgeMs leaves out what is older, and says so', async () => {
  const { reader, say } = await createPair('ages');
  const cursor = await start(reader);
  await say('Old.');
  await instance.query(
    `update events set created_at = created_at - 600000 where type = 'message.created' and thread_id is not null
       and message_id in (select id from messages where content = 'Old.')`,
    [],
  );
  await say('New.');
  const name = 'message.created';
  expect(await poll(reader, { name, cursor, maxAgeMs: 60_000 })).toMatchObject({
    events: [{ data: { content: 'New.' } }],
    truncated: true,
  });
  expect(await poll(reader, { name, cursor, maxAgeMs: 3_600_000 })).toMatchObject({ truncated: false });
  expect(await poll(reader, { name, cursor: null, maxAgeMs: 0 })).toMatchObject({ truncated: false });
});

test('a cursor from before the oldest event that is kept is truncated, and continues', async () => {
  const { reader, say } = await createPair('gaps');
  const cursor = await start(reader);
  await say('Lost.');
  await instance.query(
    `delete from feed where agent_id = (select id from agents where canonical_handle = 'reader.gaps')`,
    [],
  );
  await say('Kept.');
  const page = await poll(reader, { name: 'message.created', cursor });
  expect(page).toMatchObject({ truncated: true, events: [{ data: { content: 'Kept.' } }] });
  await say('Next.');
  expect(await poll(reader, { name: 'message.created', cursor: page.cursor })).toMatchObject({
    truncated: false,
    events: [{ data: { content: 'Next.' } }],
  });
});

test.each([
  { name: 'an unknown event', params: { name: 'message.lost' }, sketch: -32_011, sep: -32_023 },
  { name: 'a hidden event', params: { name: 'message.created' }, sketch: -32_012, sep: -32_024 },
  { name: 'no name', params: {}, sketch: -32_602, sep: -32_602 },
  {
    name: 'an unknown argument',
    params: { name: 'contact.added', arguments: { thread_id: 'thd_x' } },
    sketch: -32_602,
    sep: -32_602,
  },
  {
    name: 'an invalid handle',
    params: { name: 'contact.added', arguments: { with_handle: 'no-handle' } },
    sketch: -32_602,
    sep: -32_602,
  },
  {
    name: 'an invalid cursor',
    params: { name: 'contact.added', cursor: 'x.y' },
    sketch: -32_602,
    sep: -32_602,
  },
  {
    name: 'a negative age',
    params: { name: 'contact.added', cursor: 'latest', maxAgeMs: -1 },
    sketch: -32_602,
    sep: -32_602,
  },
  {
    name: 'arguments that are a list',
    params: { name: 'contact.added', arguments: [] },
    sketch: -32_602,
    sep: -32_602,
  },
])('$name is refused in the dialect of the client', async ({ params, sketch, sep }) => {
  const token = await instance.token('few.refused', { scopes: ['contacts:read'] });
  const codeOf = async (method: string, capabilities: object) => {
    const { error } = await askStateless(instance.url, token, { method, params, capabilities });
    return error?.code;
  };
  for (const method of ['events/poll', 'events/stream']) {
    expect(await codeOf(method, {})).toBe(sketch);
    expect(await codeOf(method, declaresEvents)).toBe(sep);
  }
});

test('clients of older revisions have no events methods', async () => {
  const token = await instance.token('old.era');
  const { error } = await callOld(token, 'events/poll');
  expect(error).toMatchObject({ code: -32_601 });
});

async function callOld(token: string, method: string): Promise<{ error?: object }> {
  const response = await fetch(`${instance.url}/mcp`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Accept: 'application/json',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { name: 'message.created' } }),
  });
  return (await response.json()) as { error?: object };
}
