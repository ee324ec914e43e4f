import { expect, test } from 'vitest';
import { buildActor } from './memory-feed.ts';
import { waitUntil, setUp } from './setup.ts';

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
