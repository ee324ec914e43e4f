import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { createRecentEntries } from '../../../src/realtime/feed/recent-entries.ts';
import { buildActor, createRecordingReader } from './memory-feed.ts';
import { waitUntil, setUp } from './setup.ts';

test('events that this process commits reach its readers without a query and without the bus', async () => {
  const { realtime, memory, bus } = setUp();
  bus.deaf = true;
  const readers = ['a', 'b', 'c'].map((agent) => ({ agent, ...createRecordingReader() }));
  for (const { agent, reader } of readers) (await realtime.open(buildActor(agent), {}, reader)).start();
  const first = memory.add(['a', 'b']);
  const second = memory.add(['b', 'c']);
  realtime.fanOut(memory.commitResultOf(first));
  realtime.fanOut(memory.commitResultOf(second));
  await waitUntil(() => {
    expect(readers.map(({ ids }) => ids())).toEqual([[first], [first, second], [second]]);
  });
  const third = memory.add(['b']);
  realtime.fanOut(memory.commitResultOf(third));
  await waitUntil(() => expect(readers[1]?.ids()).toEqual([first, second, third]));
  expect(memory.counts).toMatchObject({ read: 0, events: 0 });
});

test('a wake-up of the bus that arrives before the local one causes no read of the feed', async () => {
  const { realtime, memory, notify } = setUp();
  const { reader, ids } = createRecordingReader();
  (await realtime.open(buildActor('a'), {}, reader)).start();
  const id = memory.add(['a']);
  realtime.fanOut(memory.commitResultOf(id));
  await notify('a', 1);
  await waitUntil(() => expect(ids()).toEqual([id]));
  expect(memory.counts).toMatchObject({ read: 0, events: 0 });
});

test('a local event has the same form as one from the feed', async () => {
  const { realtime, memory, notify, cursors } = setUp();
  const [handed, read] = [createRecordingReader(), createRecordingReader()];
  (await realtime.open(buildActor('a'), {}, handed.reader)).start();
  const id = memory.add(['a']);
  realtime.fanOut(memory.commitResultOf(id));
  await waitUntil(() => expect(handed.ids()).toEqual([id]));
  const other = setUp({ feed: memory.feed, cursors });
  const stream = await other.realtime.open(
    buildActor('a'),
    { cursor: cursors.encodeFeed('a', 0) },
    read.reader,
  );
  stream.start();
  await waitUntil(() => expect(read.events).toEqual(handed.events));
  await notify('a', 1);
});

test('an event whose row is not cached is read from the feed', async () => {
  const { realtime, memory } = setUp();
  const { reader, ids } = createRecordingReader();
  (await realtime.open(buildActor('a'), {}, reader)).start();
  const id = memory.add(['a']);
  realtime.fanOut({ ...memory.commitResultOf(id), events: [] });
  await waitUntil(() => expect(ids()).toEqual([id]));
  expect(memory.counts.read).toBe(1);
});

test('a waiting caller receives an event that was committed here', async () => {
  const { realtime, memory, here, bus } = setUp();
  const waiting = realtime.page(buildActor('a'), { limit: 5, wait_ms: 60_000 });
  await waitUntil(() => expect(here()).toEqual(['a']));
  bus.deaf = true;
  const id = memory.add(['a']);
  realtime.fanOut(memory.commitResultOf(id));
  expect((await waiting).events.map((event) => event.id)).toEqual([id]);
});

test('a page without waiting is read from the feed, even when events are cached', async () => {
  const { realtime, memory, cursors } = setUp();
  (await realtime.open(buildActor('a'), {}, createRecordingReader().reader)).start();
  const own = memory.add(['a']);
  realtime.fanOut(memory.commitResultOf(own));
  const foreign = memory.add(['a']);
  const cursor = cursors.encodeFeed('a', 0);
  const page = await realtime.page(buildActor('a'), { cursor, limit: 5, wait_ms: 0 });
  expect(page.events.map((event) => event.id)).toEqual([own, foreign]);
});

test('later events of other processes are delivered with a local event, even when their wake-up arrived first', async () => {
  const { realtime, memory, notify } = setUp();
  const { reader, ids } = createRecordingReader();
  let goOn = () => {};
  const slow = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const deliver: typeof reader.deliver = async (events) => {
    await reader.deliver(events);
    if (ids().length === 1) await slow;
  };
  (await realtime.open(buildActor('a'), {}, { ...reader, deliver })).start();
  const waits = createRecordingReader();
  (await realtime.open(buildActor('a'), {}, waits.reader)).start();
  realtime.fanOut(memory.commitResultOf(memory.add(['a'])));
  await waitUntil(() => expect(ids()).toHaveLength(1));
  const own = memory.add(['a']);
  realtime.fanOut(memory.commitResultOf(own));
  await waitUntil(() => expect(waits.ids()).toContain(own));
  memory.add(['a']);
  await notify('a', 3);
  goOn();
  await waitUntil(() => expect(ids()).toEqual(memory.idsOf('a')));
});

test('every reader sees every event once and in order when wake-ups are lost, duplicated, late, and mixed with those of other processes', async () => {
  const step = fc.record({
    agents: fc.subarray(['a', 'b', 'c'], { minLength: 1 }),
    by: fc.constantFrom('here', 'here', 'elsewhere'),
    fate: fc.constantFrom('in time', 'in time', 'lost', 'doubled', 'late'),
    isNotified: fc.boolean(),
    rest: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
      const { realtime, memory, notify } = setUp();
      const readers = ['a', 'b', 'c'].map((agent) => ({ agent, ...createRecordingReader() }));
      for (const { agent, reader } of readers) (await realtime.open(buildActor(agent), {}, reader)).start();
      const late: string[] = [];
      for (const { agents, by, fate, isNotified, rest } of steps) {
        const id = memory.add(agents);
        if (by === 'here' && fate !== 'lost' && fate !== 'late') realtime.fanOut(memory.commitResultOf(id));
        if (by === 'here' && fate === 'doubled') realtime.fanOut(memory.commitResultOf(id));
        if (by === 'here' && fate === 'late') late.unshift(id);
        if (isNotified) for (const agent of agents) await notify(agent, memory.lastPosition(agent));
        if (rest) await new Promise((resolve) => setImmediate(resolve));
      }
      for (const id of late) realtime.fanOut(memory.commitResultOf(id));
      for (const { agent } of readers) await notify(agent, memory.lastPosition(agent));
      await waitUntil(() => {
        for (const { agent, ids } of readers) expect(ids()).toEqual(memory.idsOf(agent));
      });
      await realtime.close();
    }),
    { numRuns: 60 },
  );
});

test('cached entries are limited by age, by number per agent, and by number of agents', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const recent = createRecentEntries({ life_ms: 1_000, entries_per_agent: 3, agents: 2 });
    const add = (agent_id: string, number: number) =>
      recent.add({ agent_id, number, event_id: `evt_${number}` });
    const after = (agent_id: string, position: number) =>
      recent.after(agent_id, position)?.map(({ number }) => number);
    for (const number of [5, 6, 7, 8]) add('a', number);
    expect([4, 5, 7, 8].map((position) => after('a', position))).toEqual([
      undefined,
      [6, 7, 8],
      [8],
      undefined,
    ]);
    add('a', 6);
    expect(after('a', 5)).toEqual([6, 7, 8]);
    add('a', 10);
    expect([after('a', 7), after('a', 9)]).toEqual([undefined, [10]]);
    for (const agent of ['b', 'c', 'd', 'e']) add(agent, 1);
    expect(['a', 'b', 'c', 'd', 'e'].filter((agent) => after(agent, 0) ?? after(agent, 9))).toEqual([
      'd',
      'e',
    ]);
    vi.advanceTimersByTime(1_000);
    expect(after('e', 0)).toBeUndefined();
    // A database that was restored counts from an earlier number on.
    add('e', 1);
    expect(after('e', 0)).toEqual([1]);
  } finally {
    vi.useRealTimers();
  }
});
