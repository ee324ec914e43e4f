import { expect, test } from 'vitest';
import { buildActor, createRecordingReader } from './memory-feed.ts';
import { waitUntil, setUp } from './setup.ts';

test('a stream resumes after its cursor, over several pages, and continues live', async () => {
  const { realtime, memory, notify, cursors } = setUp();
  const all = Array.from({ length: 350 }, () => memory.add(['a']));
  const { reader, ids, events } = createRecordingReader();
  const stream = await realtime.open(buildActor('a'), { cursor: cursors.encodeFeed('a', 10) }, reader);
  expect(stream).toMatchObject({ resumed: true, gap: false, cursor: cursors.encodeFeed('a', 10) });
  stream.start();
  all.push(memory.add(['a']));
  await notify('a', 351);
  await waitUntil(() => expect(ids()).toEqual(all.slice(10)));
  expect(events.at(-1)?.cursor).toBe(cursors.encodeFeed('a', 351));
});

test('events committed between opening and starting are neither lost nor duplicated', async () => {
  const { realtime, memory, notify } = setUp();
  const { reader, ids } = createRecordingReader();
  const stream = await realtime.open(buildActor('a'), {}, reader);
  const first = memory.add(['a']);
  await notify('a', 1);
  stream.start();
  stream.start();
  const second = memory.add(['a']);
  await notify('a', 2);
  await notify('a', 2);
  await waitUntil(() => expect(ids()).toEqual([first, second]));
});

test('late, duplicate and false wake-ups cost a query and change nothing', async () => {
  const { realtime, memory, notify } = setUp();
  const { reader, ids } = createRecordingReader();
  (await realtime.open(buildActor('a'), {}, reader)).start();
  await notify('a', 1_000_000);
  await waitUntil(() => expect(memory.counts.read).toBe(1));
  await notify('a', 0);
  await notify('a', Number.NaN);
  const id = memory.add(['a']);
  await notify('a', 1);
  await waitUntil(() => expect(ids()).toEqual([id]));
  const reads = memory.counts.read;
  await notify('a', 1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(memory.counts.read).toBe(reads);
});

test('200 receivers of one event cost one query of positions, one row and one text', async () => {
  const { realtime, memory, notify } = setUp();
  const agents = Array.from({ length: 200 }, (_, index) => `agent-${index}`);
  const readers = agents.map(() => createRecordingReader());
  for (const [index, agent] of agents.entries()) {
    const { reader } = readers[index] ?? createRecordingReader();
    (await realtime.open(buildActor(agent), {}, reader)).start();
  }
  memory.add(agents);
  await Promise.all(agents.map((agent) => notify(agent, 1)));
  await waitUntil(() => expect(readers.every(({ events }) => events.length === 1)).toBe(true));
  expect(memory.counts).toMatchObject({ read: 1, events: 1 });
  expect(new Set(readers.map(({ events }) => events[0]?.data)).size).toBe(1);
  expect(new Set(readers.map(({ events }) => events[0]?.cursor)).size).toBe(200);
});

test('events that a token may not see are omitted, and the position moves past them', async () => {
  const { realtime, memory, notify } = setUp();
  const seeing = createRecordingReader();
  const blind = createRecordingReader();
  (await realtime.open(buildActor('a', { scopes: new Set(['realtime:read']) }), {}, seeing.reader)).start();
  (await realtime.open(buildActor('a', { scopes: new Set(['contacts:read']) }), {}, blind.reader)).start();
  for (let number = 1; number <= 250; number += 1) memory.add(['a']);
  await notify('a', 250);
  await waitUntil(() => expect(seeing.events).toHaveLength(250));
  const reads = memory.counts.read;
  await notify('a', 250);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(blind.events).toHaveLength(0);
  expect(memory.counts.read).toBe(reads);
});

test('a slow reader gets one page at a time and delays no other reader', async () => {
  const { realtime, memory, notify } = setUp();
  const fast = createRecordingReader();
  let release: (() => void) | undefined;
  const batches: number[] = [];
  const slow = {
    transport: 'ws' as const,
    deliver(batch: readonly unknown[]) {
      batches.push(batch.length);
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    },
    onEnded() {},
  };
  (await realtime.open(buildActor('a'), {}, slow)).start();
  (await realtime.open(buildActor('a'), {}, fast.reader)).start();
  for (let number = 1; number <= 500; number += 1) {
    memory.add(['a']);
    await notify('a', number);
  }
  await waitUntil(() => expect(fast.events).toHaveLength(500));
  expect(batches).toHaveLength(1);
  await waitUntil(() => {
    release?.();
    expect(batches.reduce((sum, size) => sum + size, 0)).toBe(500);
  });
});

test('a wake-up that arrives while a page is read or delivered is not lost', async () => {
  const { memory } = setUp();
  let duringRead: (() => void) | undefined;
  const local = setUp({
    feed: {
      ...memory.feed,
      async read(positions, limit) {
        const lists = await memory.feed.read(positions, limit);
        duringRead?.();
        return lists;
      },
    },
  });
  const seen: string[] = [];
  let duringDelivery: (() => void) | undefined;
  const reader = {
    transport: 'ws' as const,
    async deliver(batch: readonly { id: string }[]) {
      seen.push(...batch.map(({ id }) => id));
      duringDelivery?.();
    },
    onEnded() {},
  };
  (await local.realtime.open(buildActor('a'), {}, reader)).start();
  const more = () => {
    duringRead = duringDelivery = undefined;
    memory.add(['a']);
    void local.notify('a', memory.lastPosition('a'));
  };
  for (const moment of ['read', 'delivery']) {
    if (moment === 'read') duringRead = more;
    else duringDelivery = more;
    memory.add(['a']);
    await local.notify('a', memory.lastPosition('a'));
    await waitUntil(() => expect(seen).toHaveLength(memory.lastPosition('a')));
  }
  expect(seen).toEqual(['evt_1', 'evt_2', 'evt_3', 'evt_4']);
});

test('pages of large events have fewer events', async () => {
  const { realtime, memory, cursors } = setUp();
  for (let number = 1; number <= 50; number += 1) memory.add(['a'], 'thread.updated', 'x'.repeat(30_000));
  const sizes: number[] = [];
  const reader = {
    transport: 'ws' as const,
    deliver: async (batch: readonly unknown[]) => void sizes.push(batch.length),
    onEnded() {},
  };
  (await realtime.open(buildActor('a'), { cursor: cursors.encodeFeed('a', 0) }, reader)).start();
  await waitUntil(() => expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(50));
  expect(Math.max(...sizes)).toBeLessThan(10);
});

test.each([
  ['a part of it is left', 3],
  ['nothing is left', 4],
])(
  'a reader whose unread events were removed is ended, and learns the reason when it reconnects: %s',
  async (_, gone) => {
    const { realtime, memory, notify, cursors } = setUp();
    let release: (() => void) | undefined;
    const { reader, ends } = createRecordingReader();
    const slow = { ...reader, deliver: () => new Promise<void>((resolve) => (release = resolve)) };
    (await realtime.open(buildActor('a'), {}, slow)).start();
    memory.add(['a']);
    await notify('a', 1);
    await waitUntil(() => expect(release).toBeDefined());
    for (let number = 2; number <= 4; number += 1) memory.add(['a']);
    await notify('a', 4);
    memory.dropOldest('a', gone);
    release?.();
    await waitUntil(() => expect(ends).toEqual(['position_expired']));
    const back = await realtime.open(buildActor('a'), { cursor: cursors.encodeFeed('a', 1) }, reader);
    expect(back).toMatchObject({ gap: true, cursor: cursors.encodeFeed('a', gone) });
  },
);

test('events that a reader accepts are reported as delivered, and others are not', async () => {
  const delivered: string[] = [];
  const receipts = {
    transport: 'ws' as const,
    delivered: (agent: string, events: readonly object[]) => void delivered.push(`${agent} ${events.length}`),
    acknowledged() {},
    close: async () => {},
  };
  const { realtime, memory, notify } = setUp({ receipts });
  const { reader, ids } = createRecordingReader();
  let wanted = '';
  (await realtime.open(buildActor('a'), {}, { ...reader, wants: ({ id }) => id === wanted })).start();
  memory.add(['a']);
  wanted = memory.add(['a']);
  await notify('a', 2);
  await waitUntil(() => expect(ids()).toEqual([wanted]));
  await waitUntil(() => expect(delivered).toEqual(['a 1']));
});
