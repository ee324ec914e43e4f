import { expect, test, vi } from 'vitest';
import { buildActor } from './memory-feed.ts';
import { waitUntil, setUp } from './setup.ts';

vi.setConfig({ testTimeout: 20_000 });

test('a page has at most the limit, reports whether more events follow, and has a cursor for the next page', async () => {
  const { realtime, memory, cursors } = setUp();
  const all = Array.from({ length: 7 }, () => memory.add(['a']));
  const first = await realtime.page(buildActor('a'), {
    cursor: cursors.encodeFeed('a', 0),
    limit: 5,
    wait_ms: 60_000,
  });
  expect(first).toMatchObject({ complete: false, gap: false });
  const second = await realtime.page(buildActor('a'), { cursor: first.cursor, limit: 5, wait_ms: 0 });
  expect(second.complete).toBe(true);
  expect([...first.events, ...second.events].map((event) => event.id)).toEqual(all);
  const third = await realtime.page(buildActor('a'), { cursor: second.cursor, limit: 5, wait_ms: 0 });
  expect(third).toEqual({ events: [], cursor: second.cursor, complete: true, gap: false });
});

test('a waiting caller gets the first event immediately, or an empty page at its timeout', async () => {
  const { realtime, memory, notify, here } = setUp();
  const waiting = realtime.page(buildActor('a'), { limit: 5, wait_ms: 60_000 });
  await waitUntil(() => expect(here()).toEqual(['a']));
  const id = memory.add(['a']);
  await notify('a', 1);
  expect((await waiting).events.map((event) => event.id)).toEqual([id]);
  const { cursor } = await waiting;
  expect(await realtime.page(buildActor('a'), { cursor, limit: 5, wait_ms: 30 })).toMatchObject({
    events: [],
  });
  await waitUntil(() => expect(here()).toEqual([]));
});

test('a false wake-up does not end the wait, and a real one still does', async () => {
  const { realtime, memory, notify, here } = setUp();
  const waiting = realtime.page(buildActor('a'), { limit: 5, wait_ms: 60_000 });
  await waitUntil(() => expect(here()).toEqual(['a']));
  await notify('a', 1_000);
  await waitUntil(() => expect(memory.counts.read).toBeGreaterThan(1));
  const id = memory.add(['a']);
  await notify('a', 1);
  expect((await waiting).events.map((event) => event.id)).toEqual([id]);
});

test('a caller that disconnects stops waiting', async () => {
  const { realtime, here } = setUp();
  const gone = new AbortController();
  const waiting = realtime.page(buildActor('a'), { limit: 5, wait_ms: 60_000, signal: gone.signal });
  await waitUntil(() => expect(here()).toEqual(['a']));
  gone.abort();
  expect(await waiting).toMatchObject({ events: [], complete: true });
  await waitUntil(() => expect(here()).toEqual([]));
});

test('a wait ends with its token', async () => {
  const { realtime, here } = setUp();
  const revoked = realtime.page(buildActor('a'), { limit: 5, wait_ms: 60_000 });
  const expired = realtime.page(buildActor('b', { expires_at: Date.now() + 500 }), {
    limit: 5,
    wait_ms: 60_000,
  });
  await waitUntil(() => expect(here()).toHaveLength(2));
  realtime.revoke((actor) => actor.agent_id === 'a');
  await expect(revoked).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  await expect(expired).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
});

test('pages of hidden events are skipped up to the first visible event', async () => {
  const { realtime, memory, cursors } = setUp();
  const blind = buildActor('a', { scopes: new Set(['contacts:read']) });
  for (let number = 1; number <= 450; number += 1) memory.add(['a']);
  const page = await realtime.page(blind, { cursor: cursors.encodeFeed('a', 0), limit: 5, wait_ms: 0 });
  expect(page).toEqual({ events: [], cursor: cursors.encodeFeed('a', 450), complete: true, gap: false });
});

test('a gap at either end of the feed is reported at once', async () => {
  const { realtime, memory, cursors } = setUp();
  for (let number = 1; number <= 5; number += 1) memory.add(['a', 'b']);
  memory.dropOldest('a', 3);
  const old = await realtime.page(buildActor('a'), {
    cursor: cursors.encodeFeed('a', 1),
    limit: 5,
    wait_ms: 60_000,
  });
  expect(old).toMatchObject({ gap: true, complete: true, events: [{ id: 'evt_4' }, { id: 'evt_5' }] });
  const beyond = await realtime.page(buildActor('b'), {
    cursor: cursors.encodeFeed('b', 99),
    limit: 5,
    wait_ms: 60_000,
  });
  expect(beyond).toEqual({ events: [], gap: true, complete: true, cursor: cursors.encodeFeed('b', 5) });
  memory.dropOldest('b', 5);
  const emptied = await realtime.page(buildActor('b'), {
    cursor: cursors.encodeFeed('b', 2),
    limit: 5,
    wait_ms: 60_000,
  });
  expect(emptied).toMatchObject({ gap: true, events: [], cursor: cursors.encodeFeed('b', 5) });
});

test('readers without a cursor start at the acknowledged position, which only moves forward', async () => {
  const { realtime, memory, cursors } = setUp();
  for (let number = 1; number <= 5; number += 1) memory.add(['a']);
  await realtime.acknowledge(buildActor('a'), cursors.encodeFeed('a', 3));
  await realtime.acknowledge(buildActor('a'), cursors.encodeFeed('a', 1));
  await realtime.acknowledge(buildActor('a'), cursors.encodeFeed('a', 99));
  const page = await realtime.page(buildActor('a'), { limit: 5, wait_ms: 0 });
  expect(page.events.map((event) => event.id)).toEqual(['evt_4', 'evt_5']);
});

test('a foreign or invalid cursor is rejected by every transport', async () => {
  const { realtime, cursors } = setUp();
  const reader = { transport: 'ws' as const, deliver: async () => {}, onEnded() {} };
  const refusal = { code: 'INVALID_CURSOR' };
  for (const cursor of [cursors.encodeFeed('b', 1), '', 'nonsense', 'a.b.c']) {
    await expect(realtime.open(buildActor('a'), { cursor }, reader)).rejects.toMatchObject(refusal);
    await expect(realtime.page(buildActor('a'), { cursor, limit: 1, wait_ms: 0 })).rejects.toMatchObject(
      refusal,
    );
    await expect(realtime.acknowledge(buildActor('a'), cursor)).rejects.toMatchObject(refusal);
  }
});
