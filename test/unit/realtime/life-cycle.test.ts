import { expect, test } from 'vitest';
import { buildActor, createRecordingReader } from './memory-feed.ts';
import { waitUntil, setUp } from './setup.ts';

test('one subscription receives the wake-ups of all agents until the service closes', async () => {
  const { realtime, memory, notify, topics } = setUp();
  const readers = ['a', 'b', 'b'].map((agent) => ({ agent, ...createRecordingReader() }));
  for (const { agent, reader } of readers) (await realtime.open(buildActor(agent), {}, reader)).start();
  expect(topics()).toEqual(['wakeups']);
  const id = memory.add(['a', 'b', 'c']);
  await notify('c', 1);
  await notify('b', 1);
  await waitUntil(() => expect(readers.map(({ ids }) => ids())).toEqual([[], [id], [id]]));
  await realtime.close();
  expect(topics()).toEqual([]);
});

test('an expired token ends its stream; one that is valid for years does not', async () => {
  const { realtime } = setUp();
  const short = createRecordingReader();
  const long = createRecordingReader();
  (await realtime.open(buildActor('a', { expires_at: Date.now() + 50 }), {}, short.reader)).start();
  (await realtime.open(buildActor('a', { expires_at: Date.now() + 2 ** 40 }), {}, long.reader)).start();
  await waitUntil(() => expect(short.ends).toEqual(['token_ended']));
  expect(long.ends).toEqual([]);
});

test('nothing is delivered with an expired token, even before the next check of the clock', async () => {
  const { realtime, memory, notify } = setUp({ intervals: { healthy_ms: 100_000, unhealthy_ms: 100_000 } });
  const { reader, events, ends } = createRecordingReader();
  (await realtime.open(buildActor('a', { expires_at: Date.now() + 30 }), {}, reader)).start();
  await new Promise((resolve) => setTimeout(resolve, 40));
  memory.add(['a']);
  await notify('a', 1);
  await waitUntil(() => expect(ends).toEqual(['token_ended']));
  expect(events).toEqual([]);
});

test('a revocation while a stream opens refuses it; one before its start is reported at the start', async () => {
  const { realtime } = setUp();
  const early = createRecordingReader();
  const opening = realtime.open(buildActor('a'), {}, early.reader);
  realtime.revoke(() => true);
  await expect(opening).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  const stream = await realtime.open(buildActor('a'), {}, early.reader);
  realtime.revoke(() => true);
  expect(early.ends).toEqual([]);
  stream.start();
  expect(early.ends).toEqual(['token_ended']);
});

test('a token that ended without a bus message ends its streams and waiting callers, and no others', async () => {
  const good = new Set(['gone', 'stays']);
  const lookups: (readonly string[])[] = [];
  const { realtime, here } = setUp({
    intervals: { healthy_ms: 40, unhealthy_ms: 10 },
    async listValidTokens(ids) {
      lookups.push(ids);
      return new Set(ids.filter((id) => good.has(id)));
    },
  });
  const gone = createRecordingReader();
  const stays = createRecordingReader();
  (await realtime.open(buildActor('a', { token_id: 'gone' }), {}, gone.reader)).start();
  (await realtime.open(buildActor('a', { token_id: 'stays' }), {}, stays.reader)).start();
  (await realtime.open(buildActor('c', { token_id: 'stays' }), {}, stays.reader)).start();
  const waiting = realtime.page(buildActor('b', { token_id: 'gone' }), { limit: 5, wait_ms: 60_000 });
  const refused = expect(waiting).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  await waitUntil(() => expect(here()).toContain('b'));
  await waitUntil(() => expect(lookups).toContainEqual(['gone', 'stays']));
  good.delete('gone');
  await waitUntil(() => expect(gone.ends).toEqual(['token_ended']));
  await refused;
  expect(stays.ends).toEqual([]);
});

test('the token of a new stream is checked soon, because it may have ended while the stream opened', async () => {
  // The first look comes long after the stream is open, also on a busy machine.
  const intervals = { healthy_ms: 100_000, unhealthy_ms: 1_000 };
  const { realtime } = setUp({ listValidTokens: async () => new Set(), intervals });
  const { reader, ends } = createRecordingReader();
  (await realtime.open(buildActor('a'), {}, reader)).start();
  await waitUntil(() => expect(ends).toEqual(['token_ended']));
});

test('a failed token lookup ends no stream; after it works again, streams of invalid tokens end', async () => {
  let away = true;
  let tries = 0;
  const { realtime, logged } = setUp({
    async listValidTokens() {
      tries += 1;
      if (away) throw new Error('the database is away');
      return new Set();
    },
  });
  const { reader, ends } = createRecordingReader();
  (await realtime.open(buildActor('a'), {}, reader)).start();
  await waitUntil(() => expect(tries).toBeGreaterThan(2));
  expect(ends).toEqual([]);
  expect(logged).toEqual(['cannot check the tokens of open streams']);
  away = false;
  await waitUntil(() => expect(ends).toEqual(['token_ended']));
});

test('streams and waiting callers of an agent are limited; closing one permits another', async () => {
  const { realtime } = setUp({ streams_per_agent: 2 });
  const { reader } = createRecordingReader();
  const one = await realtime.open(buildActor('a'), {}, reader);
  const gone = new AbortController();
  const waiting = realtime.page(buildActor('a'), { limit: 5, wait_ms: 60_000, signal: gone.signal });
  await waitUntil(() => {
    let members = 0;
    realtime.revoke(() => {
      members += 1;
      return false;
    });
    expect(members).toBe(2);
  });
  const tooMany = { code: 'RATE_LIMITED', retry_after: 5 };
  await expect(realtime.open(buildActor('a'), {}, reader)).rejects.toMatchObject(tooMany);
  await expect(realtime.page(buildActor('a'), { limit: 5, wait_ms: 60_000 })).rejects.toMatchObject(tooMany);
  expect(await realtime.page(buildActor('a'), { limit: 5, wait_ms: 0 })).toMatchObject({ complete: true });
  (await realtime.open(buildActor('b'), {}, reader)).close();
  gone.abort();
  await waiting;
  const two = await realtime.open(buildActor('a'), {}, reader);
  one.close();
  two.close();
});

test('closing ends every stream and waiting caller, and refuses new ones', async () => {
  const { realtime, here } = setUp();
  const { reader, ends } = createRecordingReader();
  (await realtime.open(buildActor('a'), {}, reader)).start();
  const waiting = realtime.page(buildActor('b'), { limit: 5, wait_ms: 60_000 });
  await waitUntil(() => expect(here()).toContain('b'));
  await realtime.close();
  expect(ends).toEqual(['shutdown']);
  expect(await waiting).toMatchObject({ events: [], complete: true });
  expect(here()).toEqual([]);
  await expect(realtime.open(buildActor('a'), {}, reader)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test('a reader that fails loses its stream and affects no other', async () => {
  const { realtime, memory, notify, logged } = setUp();
  const ends: string[] = [];
  const broken = {
    transport: 'ws' as const,
    deliver: async () => {
      throw new Error('broken reader');
    },
    onEnded(reason: string) {
      ends.push(reason);
      throw new Error('broken to the end');
    },
  };
  const { reader, events } = createRecordingReader();
  (await realtime.open(buildActor('a'), {}, broken)).start();
  (await realtime.open(buildActor('a'), {}, reader)).start();
  memory.add(['a']);
  await notify('a', 1);
  await waitUntil(() => expect(ends).toEqual(['failed']));
  expect(events).toHaveLength(1);
  expect(logged).toHaveLength(2);
});
