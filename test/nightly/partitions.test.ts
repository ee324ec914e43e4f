import { afterEach, beforeEach, expect, test } from 'vitest';
import { minIdAt, newId, timeOfId } from '../../packages/core/src/domain/ids.ts';
import { searchTextVersion } from '../../packages/core/src/domain/search/tokenizer.ts';
import { expireByAge } from '../../workers/maintenance/retention.ts';
import { dayMs, idDaysAgo, createPartitions, partitionedTableNames } from '../support/partitions.ts';
import { requestRest } from '../clients/rest.ts';
import { startService, type TestAgent, type TestService } from '../support/service.ts';
import { connectWebSocket } from '../clients/websocket.ts';
import { openSseStream } from '../clients/sse.ts';

let service: TestService;
beforeEach(async () => {
  service = await startService({ worker: false, env: { MESSAGE_RETENTION_DAYS: '40' } });
});
afterEach(() => service.stop());

const sql = <Row extends object>(text: string, values: unknown[] = []) =>
  service.core.database.query<Row>({ text }, values);
const runMaintenanceNow = () => expireByAge(service.core, Date.now());
const partitions = () => service.core.db.partitions.list();

/** Two agents and a thread between them. */
async function conversation() {
  const [ann, bob] = [await service.agent(), await service.agent()];
  const thread_id = await service.thread(ann, bob);
  const send = (content: string) => service.post(ann, `/threads/${thread_id}/messages`, { content });
  return { ann, bob, thread: thread_id, send };
}

/** The feed of an agent from its beginning, by event. */
async function feedOf(agent: TestAgent) {
  const lines = await sql<{ number: number; event_id: string; part: string }>(
    'select number, event_id, tableoid::regclass::text as part from feed where agent_id = $1 order by number',
    [agent.id],
  );
  return lines;
}

/** Makes an event this many days older, with its feed entries. */
async function age(eventId: string, days: number): Promise<void> {
  const older = idDaysAgo('event', days, timeOfId(eventId) % 10_000);
  await sql('update events set id = $2 where id = $1', [eventId, older]);
  await sql('update feed set event_id = $2 where event_id = $1', [eventId, older]);
}

test('rows are in the partition of their time; concurrent maintenance runs create each partition once', async () => {
  const today = await createPartitions(service.core, [-8, 1]);
  const { bob, send } = await conversation();
  expect((await send('hello')).status).toBe(201);
  const name = new Date(today - 8 * dayMs).toISOString().slice(0, 10).replaceAll('-', '');
  expect(new Set((await feedOf(bob)).map(({ part }) => part))).toEqual(new Set([`feed_${name}`]));
  expect(await sql('select tableoid::regclass::text as part from messages')).toEqual([
    { part: `messages_${name}` },
  ]);
  await Promise.all([runMaintenanceNow(), runMaintenanceNow(), runMaintenanceNow()]);
  const all = await partitions();
  for (const table of partitionedTableNames) {
    const own = all.filter((partition) => partition.table === table);
    expect(own.length).toBeGreaterThan(1);
    for (const [index, { from }] of own.entries()) if (index > 0) expect(from).toBe(own[index - 1]?.to);
    expect(timeOfId(own.at(-1)?.to ?? '')).toBeGreaterThanOrEqual(Date.now() + 3 * dayMs);
  }
  await runMaintenanceNow();
  expect(await partitions()).toEqual(all);
  const targets = await sql(
    `select distinct attstattarget as target from pg_attribute a join pg_inherits i on i.inhrelid = a.attrelid
     where i.inhparent = 'message_search'::regclass and attname = 'document'`,
  );
  expect(targets).toEqual([{ target: 300 }]);
});

test('old feed partitions are dropped whole, recent entries stay, and every transport reports the gap', async () => {
  const today = await createPartitions(service.core, [-60, -45, -31, -20, 2]);
  const { ann, bob, send } = await conversation();
  for (const content of ['one', 'two', 'three', 'four']) await send(content);
  const [opened, one, two, three] = await feedOf(bob);
  for (const [line, days] of [
    [opened, 59],
    [one, 50],
    [two, 46],
    [three, 29],
  ] as const) {
    await age(line?.event_id ?? '', days);
  }
  const before = await service.get(bob, '/events?limit=1');
  expect(before.body.gap).toBeUndefined();
  const lines = await feedOf(bob);
  await runMaintenanceNow();
  const names = (await partitions()).filter(({ table }) => table === 'feed').map(({ from }) => from);
  expect(names[0]).toBe(minIdAt('event', today - 31 * dayMs));
  expect(await feedOf(bob)).toEqual(lines.slice(3));
  expect(await feedOf(ann)).toHaveLength(2);

  const cursor = service.core.settings.cursors.encodeFeed(bob.id, 1);
  const page = await service.get(bob, `/events?cursor=${encodeURIComponent(cursor)}`);
  expect(page.body).toMatchObject({ gap: true, complete: true });
  expect(page.body.events.map((event: { data: { content: string } }) => event.data.content)).toEqual([
    'three',
    'four',
  ]);
  const socket = await connectWebSocket(service.url, {
    token: await service.token(bob.handle, { audience: 'ws' }),
    cursor,
  });
  expect(socket.ready).toMatchObject({ resumed: true, gap: true });
  await socket.next((frame) => frame.data?.['content'] === 'four');
  expect(socket.events()).toHaveLength(2);
  await socket.close();
  const stream = await openSseStream(`${service.url}/mcp`, {
    Accept: 'text/event-stream',
    Authorization: `Bearer ${await service.token(bob.handle, { audience: 'mcp' })}`,
    'Last-Event-ID': cursor,
  });
  const told = (await stream.events(3)).map((event) => JSON.parse(event.data));
  expect(told[0].method).toBe('notifications/service/gap');
  stream.close();
});

test('a feed whose entries are in reverse partition order, since clocks differed, has no gap after the boundary', async () => {
  await createPartitions(service.core, [-60, -45, -20, 2]);
  const { bob, send } = await conversation();
  for (const content of ['one', 'two', 'three']) await send(content);
  const [opened, one, two] = await feedOf(bob);
  // The second entry was written before the third, by a process whose clock was ahead.
  // At any time of day, the first and the third are before that midnight.
  await age(opened?.event_id ?? '', 46.5);
  await age(one?.event_id ?? '', 44);
  await age(two?.event_id ?? '', 46);
  await runMaintenanceNow();
  expect((await feedOf(bob)).map(({ number }) => number)).toEqual([4]);
});

test('rows of the default partition move into a new partition when it is created', async () => {
  await createPartitions(service.core, [-8, -1]);
  const { bob, send } = await conversation();
  await send('early');
  expect(new Set((await feedOf(bob)).map(({ part }) => part))).toEqual(new Set(['feed_default']));
  await runMaintenanceNow();
  expect((await feedOf(bob)).map(({ part }) => part)).not.toContain('feed_default');
  expect(await sql('select from messages_default')).toEqual([]);
  const page = await service.get(bob, '/events');
  expect(page.body.gap).toBeUndefined();
});

test('rows in the default partition from a clock far in the past are removed one by one', async () => {
  await createPartitions(service.core, [-20, 2]);
  const { bob, send } = await conversation();
  await send('one');
  for (const { event_id } of (await feedOf(bob)).slice(0, 1)) await age(event_id, 50);
  expect((await feedOf(bob))[0]?.part).toBe('feed_default');
  await runMaintenanceNow();
  expect((await feedOf(bob)).map(({ number }) => number)).toEqual([2]);
  expect(await sql('select from events_default')).toEqual([]);
});

test('old messages are removed with all related rows, and their threads continue to work', async () => {
  await createPartitions(service.core, [-100, -60, -45, -20, 2]);
  const { ann, bob, thread, send } = await conversation();
  const ids: string[] = [];
  for (const content of ['one', 'two', 'three']) ids.push((await send(content)).body.id);
  const documents = ids.map((message_id) => ({ message_id, document: "'word':1" }));
  await service.core.db.messageSearch.index(documents, searchTextVersion, Date.now());
  await sql(
    `insert into attachments (id, uploader_id, message_id, storage_key, filename, content_type, size_bytes, sha256, created_at)
     values ($1, $2, $3, $4, 'a.txt', 'text/plain', 1, $5, 1)`,
    [newId('attachment'), ann.id, ids[0], 'b'.repeat(32), 'a'.repeat(64)],
  );
  for (const [at, { event_id }] of (await feedOf(bob)).slice(1, 3).entries()) {
    await age(event_id, 80 - at);
    const older = idDaysAgo('message', 80 - at);
    await sql('update messages set id = $2 where id = $1', [ids[at], older]);
    await sql('update message_search set message_id = $2 where message_id = $1', [ids[at], older]);
    await sql('update attachments set message_id = $2 where message_id = $1', [ids[at], older]);
    ids[at] = older;
  }
  await runMaintenanceNow();

  const [reader, writer] = [{ token: bob.token }, { token: ann.token }];
  const list = async (query: string) => {
    const { body } = await requestRest('GET', `${service.api}/threads/${thread}/messages${query}`, reader);
    return body.messages.map(({ sequence }: { sequence: number }) => sequence);
  };
  expect((await requestRest('GET', `${service.api}/threads/${thread}`, reader)).body.unread_count).toBe(1);
  const body = { content: 'four', reply_to: ids[0] };
  const refused = await requestRest('POST', `${service.api}/threads/${thread}/messages`, { ...writer, body });
  expect(refused.body.error.code).toBe('MESSAGE_NOT_FOUND');
  expect((await send('four')).body.sequence).toBe(4);
  expect(await list('')).toEqual([4, 3]);
  expect(await list('?order=asc')).toEqual([3, 4]);
  expect(await list('?order=asc&limit=1')).toEqual([3]);
  const found = await requestRest('GET', `${service.api}/messages/search?q=word`, reader);
  expect(found.body.results.map(({ message }: { message: { id: string } }) => message.id)).toEqual([ids[2]]);
  expect(await sql('select message_id from message_search')).toEqual([{ message_id: ids[2] }]);
  expect(await sql('select from attachments')).toEqual([]);
});

test('old messages in the default partition are removed one by one, and never from the middle of a thread', async () => {
  await createPartitions(service.core, [-20, 2]);
  const { bob, thread, send } = await conversation();
  for (const content of ['one', 'two', 'three', 'four']) await send(content);
  // The third was written by a process whose clock was far in the past.
  for (const [sequence, days] of [
    [1, 90],
    [2, 3],
    [3, 80],
  ] as const) {
    await sql('update messages set id = $2 where sequence = $1', [sequence, idDaysAgo('message', days)]);
  }
  await sql('delete from feed');
  await sql('delete from events');
  const list = async () => {
    const { body } = await service.get(bob, `/threads/${thread}/messages?order=asc`);
    return body.messages.map(({ sequence }: { sequence: number }) => sequence);
  };
  const unread = async () => (await service.get(bob, `/threads/${thread}`)).body.unread_count;
  expect(await sql('select from messages_default')).toHaveLength(2);
  await runMaintenanceNow();
  expect(await list()).toEqual([2, 3, 4]);
  expect(await unread()).toBe(3);

  await sql('update messages set id = $1 where sequence = 2', [idDaysAgo('message', 85)]);
  await runMaintenanceNow();
  expect([await list(), await unread()]).toEqual([[4], 1]);
  expect(await sql('select from messages_default')).toEqual([]);
  await send('five');
  expect(await list()).toEqual([4, 5]);
});

test('messages are delivered while partitions are created and dropped', async () => {
  await createPartitions(service.core, [-100, -80, -60, -45, -20, 2]);
  const { ann, bob, thread, send } = await conversation();
  const change = { over: false };
  const work = Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let sent = 0; !change.over || sent < 5; sent += 1) {
        expect((await send(`${sent}`)).status).toBe(201);
        const list = await service.get(bob, `/threads/${thread}/messages`);
        expect(list.status).toBe(200);
      }
    }),
  );
  await runMaintenanceNow().finally(() => {
    change.over = true;
  });
  await work;
  const all = await partitions();
  expect(all.filter(({ table, to }) => table === 'feed' && to < idDaysAgo('event', 30))).toEqual([]);
  for (const agent of [ann, bob]) {
    const numbers = (await feedOf(agent)).map(({ number }) => number);
    expect(numbers).toEqual(Array.from(numbers, (_, index) => index + 1));
  }
});
