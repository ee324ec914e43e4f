import { expect, test } from 'vitest';
import { buildActor, createRecordingReader } from './memory-feed.ts';
import { waitUntil, setUp } from './setup.ts';

test('the poll is frequent while the bus is down, and uses one query for all agents', async () => {
  const { realtime, memory, bus } = setUp();
  bus.deaf = true;
  bus.healthy = false;
  const readers = Array.from({ length: 20 }, () => createRecordingReader());
  for (const [index, { reader }] of readers.entries()) {
    (await realtime.open(buildActor(`agent-${index}`), {}, reader)).start();
  }
  memory.counts.heads = 0;
  memory.add(readers.map((_, index) => `agent-${index}`));
  await waitUntil(() => expect(readers.every(({ events }) => events.length === 1)).toBe(true));
  expect(memory.counts.heads).toBeLessThan(10);
});

test('a stream survives an unavailable database, and skips nothing', async () => {
  const { realtime, memory, notify } = setUp();
  const { reader, ids, ends } = createRecordingReader();
  (await realtime.open(buildActor('a'), {}, reader)).start();
  memory.fail(new Error('the database is away'));
  const all = [memory.add(['a']), memory.add(['a'])];
  await notify('a', 2);
  await waitUntil(() => expect(memory.counts.read).toBeGreaterThan(2));
  memory.fail(undefined);
  await waitUntil(() => expect(ids()).toEqual(all));
  expect(ends).toEqual([]);
});

test('opening and paging are refused as UNAVAILABLE while the database is unavailable', async () => {
  const { realtime, memory } = setUp();
  memory.fail(new Error('away'));
  await expect(realtime.open(buildActor('a'), {}, createRecordingReader().reader)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });
  await expect(realtime.page(buildActor('a'), { limit: 5, wait_ms: 0 })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });
});

test('a cursor beyond the end of a restored feed is a gap, and the stream starts now', async () => {
  const { realtime, memory, cursors } = setUp();
  memory.add(['a']);
  const stream = await realtime.open(
    buildActor('a'),
    { cursor: cursors.encodeFeed('a', 9) },
    createRecordingReader().reader,
  );
  expect(stream).toMatchObject({ resumed: false, gap: true, cursor: cursors.encodeFeed('a', 1) });
});

test('an open stream ends instead of skipping when its feed is restored or loses the next entries', async () => {
  const { realtime, memory, notify, bus, cursors } = setUp();
  for (let number = 1; number <= 9; number += 1) memory.add(['a', 'b']);
  const back = createRecordingReader();
  (await realtime.open(buildActor('a'), {}, back.reader)).start();
  memory.rewind('a', 3);
  bus.healthy = false;
  await waitUntil(() => expect(back.ends).toEqual(['failed']));
  bus.healthy = true;

  const behind = createRecordingReader();
  const stream = await realtime.open(buildActor('b'), { cursor: cursors.encodeFeed('b', 2) }, behind.reader);
  memory.dropOldest('b', 5);
  stream.start();
  await waitUntil(() => expect(behind.ends).toEqual(['position_expired']));
  expect(behind.events).toEqual([]);
  await notify('b', 9);
});

test('a missing event ends the stream after everything before it', async () => {
  const { realtime, memory, notify, logged } = setUp();
  const { reader, ids, ends } = createRecordingReader();
  const other = createRecordingReader();
  (await realtime.open(buildActor('a'), {}, reader)).start();
  (await realtime.open(buildActor('b'), {}, other.reader)).start();
  const good = memory.add(['a', 'b']);
  memory.add(['a'], 'message.created', 'without a message');
  await Promise.all([notify('a', 2), notify('b', 1)]);
  await waitUntil(() => expect(ends).toEqual(['failed']));
  expect(ids()).toEqual([good]);
  expect(other.ids()).toEqual([good]);
  expect(logged).toContain('cannot present event evt_2');
});

test('a missing number in the middle ends the stream after everything before it', async () => {
  const { memory } = setUp();
  const { realtime, notify } = setUp({
    feed: {
      ...memory.feed,
      read: async (positions, limit) =>
        (await memory.feed.read(positions, limit)).map((lines) => lines.filter(({ number }) => number !== 3)),
    },
  });
  const { reader, ids, ends } = createRecordingReader();
  (await realtime.open(buildActor('a'), {}, reader)).start();
  for (let number = 1; number <= 5; number += 1) memory.add(['a']);
  await notify('a', 5);
  await waitUntil(() => expect(ends).toEqual(['failed']));
  expect(ids()).toEqual(['evt_1', 'evt_2']);
});
