import fc from 'fast-check';
import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { idPrefixes, minIdAt, newId } from '../../../packages/core/src/domain/ids.ts';
import { type MessageRange, messagesRepository } from '../../../src/repositories/messages/messages.ts';
import type { Queryable, Statement } from '../../../src/repositories/queryable.ts';
import { flattenPlan, explainQuery, queryableOf } from '../../support/query-plans.ts';
import { useConnectedDatabase } from '../../support/servers/postgres/database.ts';

const hour = 3_600_000;
const begin = Date.now() - 200 * hour;
const [ann, owner] = [newId('agent'), newId('account')];
const client = useConnectedDatabase();

interface Place {
  sequence: number;
  created_at: number;
}

beforeAll(async () => {
  await client.query('set session_replication_role = replica');
  await client.query(
    `insert into agents (id, owner_id, canonical_handle, display_name, scope, visibility, inbound_policy, created_at, updated_at)
     values ($1, $2, 'ann.agent', 'Ann', 'personal', 'public', 'open', 0, 0)`,
    [ann, owner],
  );
});
const queries: { name: string | undefined; values: readonly unknown[] }[] = [];
const db: Queryable = {
  async query<Row extends object>(statement: Statement, values: readonly unknown[]) {
    queries.push({ name: statement.name, values });
    return (await client.query<Row>({ ...statement, values: [...values] })).rows;
  },
};

/** A thread with these messages, as read when `last` was its last one. */
async function threadWith(places: readonly Place[], last: number) {
  const id = newId('thread');
  const ids = places.map(({ sequence, created_at }) => {
    const tail = String(sequence).padStart(4, '0');
    return `${minIdAt('message', created_at).slice(0, idPrefixes.message.length + 11)}${id.slice(-12)}${tail}`;
  });
  await client.query(
    `insert into messages (id, thread_id, sequence, sender_id, content, content_type, metadata, created_at)
     select id, $1, sequence, $2, 'x', 'text', '{}', created_at from unnest($3::text[], $4::int[], $5::bigint[]) m (id, sequence, created_at)`,
    [id, ann, ids, places.map(({ sequence }) => sequence), places.map(({ created_at }) => created_at)],
  );
  return { id, last_sequence: last, last_message_at: begin + last * hour, created_at: begin };
}

const hourly = (from: number, to: number): Place[] =>
  Array.from({ length: to - from + 1 }, (_, at) => ({
    sequence: from + at,
    created_at: begin + (from + at) * hour,
  }));

const someRange = fc.record({
  below: fc.oneof(fc.integer({ min: 1, max: 170 }), fc.constant(2_147_483_647)),
  above: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 170 })),
  order: fc.constantFrom('asc' as const, 'desc' as const),
  limit: fc.integer({ min: 1, max: 60 }),
});

/** The expected page, computed without a database. */
function pageOf(places: readonly Place[], { above, below, order, limit }: MessageRange): number[] {
  const inside = places.map(({ sequence }) => sequence).filter((each) => each > above && each < below);
  return inside.toSorted((a, b) => (order === 'asc' ? a - b : b - a)).slice(0, limit);
}

const wrongClock = hourly(1, 150).map((place) =>
  place.sequence % 40 === 0 ? { ...place, created_at: begin - 4_000 * hour } : place,
);
const threads: [string, Place[], number][] = [
  ['a whole thread', hourly(1, 150), 150],
  ['a thread whose first messages were removed', hourly(61, 150), 150],
  ['a thread that grew since it was read', hourly(1, 150), 130],
  ['a thread with messages from a wrong clock', wrongClock, 150],
  ['a thread without messages', [], 0],
];

test.each(threads)('every page equals the expected one: %s', async (_, places, last) => {
  const thread = await threadWith(places, last);
  await fc.assert(
    fc.asyncProperty(someRange, async (range) => {
      const page = await messagesRepository(db).list(thread, range);
      expect(page.map(({ sequence }) => sequence)).toEqual(pageOf(places, range));
    }),
    { numRuns: 60 },
  );
});

test.each(['asc', 'desc'] as const)(
  'is read by one statement, planned once, without unneeded rows: %s',
  async (order) => {
    const thread = await threadWith(hourly(1, 2_000), 2_000);
    await client.query('analyze messages');
    const range = { below: 2_147_483_647, above: 0, order, limit: 21 };
    const name = `messages.page_${order}`;
    queries.length = 0;
    for (let count = 0; count < 7; count += 1) await messagesRepository(db).list(thread, range);
    expect(queries.map((each) => each.name)).toEqual(Array.from({ length: 7 }, () => name));
    const { rows } = await client.query(
      `select generic_plans > 0 as once from pg_prepared_statements where name = $1`,
      [name],
    );
    expect(rows).toEqual([{ once: true }]);
    const values = queries[6]?.values.map((value) => pg.escapeLiteral(String(value))).join(', ');
    const done = await explainQuery(queryableOf(client), `execute "${name}"(${values})`, [], ', analyze');
    const rowsRead = done
      .flatMap(flattenPlan)
      .filter((node) => node['Relation Name']?.startsWith('messages'))
      .map((node) => (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0));
    expect(rowsRead.reduce((sum, count) => sum + count, 0)).toBe(21);
  },
);
