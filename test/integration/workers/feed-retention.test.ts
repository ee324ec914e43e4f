import { afterAll, beforeAll, expect, test } from 'vitest';
import { minIdAt } from '../../../packages/core/src/domain/ids.ts';
import { type Database, openDatabase } from '../../../src/platform/database/database.ts';
import { feedRetentionRepository } from '../../../src/repositories/feed/retention.ts';
import { removeOldFeeds } from '../../../workers/maintenance/feed-retention.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';
import { use } from '../../support/use.ts';

const day = 24 * 3_600_000;
const now = Date.UTC(2030, 0, 31);
const days = 30;
const limit = now - days * day;

const place = use(createTestDatabase);
let database: Database;
beforeAll(async () => {
  database = openDatabase({ url: place.url, poolSize: 4, onError: () => undefined });
  // Feeds without agents: retention reads nothing else.
  await sql('alter table feed_heads drop constraint feed_heads_agent_id_fkey');
});
afterAll(async () => {
  await database.close();
});

function sql<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  return database.query<Row>({ text }, values);
}

/** Adds one event at each of these times to the feeds of these agents; positions continue after the last one. */
async function fill(feeds: Record<string, readonly number[]>): Promise<void> {
  await sql('truncate events, feed, feed_heads');
  const times = new Set(Object.values(feeds).flat());
  for (const time of times) {
    const recipients = Object.keys(feeds).filter((agent) => feeds[agent]?.includes(time));
    const values = [idAt(time), recipients, time];
    await sql(
      `insert into events (id, type, data, recipients, created_at) values ($1, 'agent.updated', '{}', $2, $3)`,
      values,
    );
  }
  for (const [agent, lines] of Object.entries(feeds)) {
    await sql('insert into feed_heads (agent_id, last_number) values ($1, $2)', [agent, lines.length]);
    await sql(
      `insert into feed (agent_id, number, event_id)
       select $1, place, id from unnest($2::text[]) with ordinality l (id, place)`,
      [agent, lines.map(idAt)],
    );
  }
}

const idAt = (time: number) => minIdAt('event', time);

interface Kept {
  agent_id: string;
  number: number;
  event_id: string;
  whole: boolean;
}

/** The entries of all feeds, each with whether its event exists. */
const kept = () =>
  sql<Kept>(`select f.agent_id, f.number, f.event_id, e.id is not null as whole
    from feed f left join events e on e.id = f.event_id order by f.agent_id, f.number`);

/** Invariants: entries have their events, feeds have no gaps, and no recent entry is lost. */
async function expectSound(feeds: Record<string, readonly number[]>): Promise<void> {
  const lines = await kept();
  expect(lines.filter(({ whole }) => !whole)).toEqual([]);
  for (const [agent, times] of Object.entries(feeds)) {
    const numbers = lines.filter(({ agent_id }) => agent_id === agent).map(({ number }) => number);
    const first = numbers[0] ?? times.length + 1;
    expect(numbers).toEqual(Array.from({ length: times.length - first + 1 }, (_, index) => first + index));
    const young = times.findIndex((time) => time >= limit);
    if (young !== -1) expect(first).toBeLessThanOrEqual(young + 1);
  }
}

const run = (store: ReturnType<typeof feedRetentionRepository>) =>
  removeOldFeeds(
    { feedRetention: store },
    { now, days, batchSizes: { agents: 2, feeds: 2, entries: 3, events: 2 } },
  );

const ago = (count: number) => now - count * day;
const old = [60, 50, 45, 44, 43, 42, 41, 40].map(ago);
const young = [29, 20, 2].map(ago);
/** The entry is past retention, its event is not: the entry stays a day longer. */
const between = ago(30.5);
const feeds = {
  agt_all_gone: old.slice(0, 7),
  agt_both: [...old, between, ...young],
  agt_empty: [],
  agt_long: [...old, ago(39), ago(38), ago(37), ...young.slice(2)],
  // Ids and positions may be slightly out of step: the first to commit may have started second.
  agt_mixed: [ago(60), ago(29.9), ago(30.1), ago(20)],
  agt_young: young,
};

test('removes old entries and then old events, keeps recent ones, and leaves no gaps', async () => {
  await fill(feeds);
  await run(feedRetentionRepository(database));
  await expectSound(feeds);
  const lines = await kept();
  expect(lines.map(({ agent_id, number }) => `${agent_id} ${number}`)).toEqual([
    ...[10, 11, 12].map((number) => `agt_both ${number}`),
    'agt_long 12',
    ...[2, 3, 4].map((number) => `agt_mixed ${number}`),
    ...[1, 2, 3].map((number) => `agt_young ${number}`),
  ]);
  const events = await sql<{ id: string }>('select id from events order by id');
  expect(events.map(({ id }) => id)).toEqual([30.5, 30.1, 29.9, 29, 20, 2].map((count) => idAt(ago(count))));
});

test('killed at any statement, it leaves consistent feeds, and the next run finishes', async () => {
  await fill(feeds);
  await run(feedRetentionRepository(database));
  const expected = await kept();
  let left = 0;
  const mortal = feedRetentionRepository({
    query(statement, values) {
      left -= 1;
      if (left < 0) throw new Error('killed');
      return database.query(statement, values);
    },
  });
  for (let statements = 0, alive = false; !alive; statements += 1) {
    await fill(feeds);
    left = statements;
    alive = await run(mortal).then(
      () => statements > 10,
      () => false,
    );
    await expectSound(feeds);
    await run(feedRetentionRepository(database));
    expect(await kept()).toEqual(expected);
  }
});

test('several concurrent runs have the same result as one', async () => {
  await fill(feeds);
  await run(feedRetentionRepository(database));
  const expected = await kept();
  await fill(feeds);
  await Promise.all(Array.from({ length: 4 }, () => run(feedRetentionRepository(database))));
  expect(await kept()).toEqual(expected);
  await expectSound(feeds);
});
