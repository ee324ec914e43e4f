import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { loadModule, parseSync } from 'libpg-query';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Placement, readDistribution, readScript } from '../../support/citus/distribution.ts';
import { checkStatement } from '../../support/citus/statement-rules.ts';
import { listStatements, type MadeStatement } from '../../support/citus/statements.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';

const root = join(import.meta.dirname, '../../..');

let client: pg.Client;
let drop: () => Promise<void>;
/** Of tables and partitions. */
let columns: Map<string, string[]>;
const placements = readDistribution();
/** With the partitions, which are where their tables are. */
let everyPlacement: Map<string, Placement>;

const rows = async <Row extends object>(text: string) => (await client.query<Row>(text)).rows;

beforeAll(async () => {
  await loadModule();
  const database = await createTestDatabase();
  drop = database.drop;
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const found = await rows<{ table: string; parent: string | null; columns: string[] }>(
    `select c.relname as table, case when c.relispartition then pg_partition_root(c.oid)::text end as parent,
       array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') group by c.oid, c.relname`,
  );
  columns = new Map(found.map((each) => [each.table, each.columns]));
  const ofPartitions = found.map(
    ({ table, parent }) => [table, parent === null ? undefined : placements.get(parent)] as const,
  );
  everyPlacement = new Map(placements);
  for (const [table, placement] of ofPartitions) if (placement) everyPlacement.set(table, placement);
});
afterAll(async () => {
  await client.end();
  await drop();
});

/** The unique indexes of distributed tables and of their partitions that lack the distribution column. */
async function listKeysWithoutColumn(): Promise<string[]> {
  const keys = await rows<{ table: string; key: string; columns: string[] }>(
    `select coalesce(pg_partition_root(c.oid), c.oid)::regclass::text as table, i.indexrelid::regclass::text as key,
       array(select attname::text from pg_attribute where attrelid = c.oid and attnum = any((i.indkey::int2[])[0:i.indnkeyatts - 1])) as columns
     from pg_index i join pg_class c on c.oid = i.indrelid
     where c.relnamespace = 'public'::regnamespace and i.indisunique
       and not exists (select from pg_inherits p where p.inhrelid = i.indexrelid) order by 2`,
  );
  return keys.flatMap(({ table, key, columns: names }) => {
    const placement = placements.get(table);
    return placement?.kind === 'distributed' && !names.includes(placement.column) ? [key] : [];
  });
}

/** A rule of Citus for foreign keys; the reference tables of this schema refer to reference tables only. */
function isPermittedKey(from: Placement | undefined, to: Placement | undefined, pairs: string[][]): boolean {
  if (to?.kind === 'reference') return true;
  if (to?.kind === 'coordinator') return from?.kind === 'coordinator';
  return (
    from?.kind === 'distributed' &&
    to?.kind === 'distributed' &&
    from.group === to.group &&
    pairs.some(([own, other]) => own === from.column && other === to.column)
  );
}

async function listForeignKeys() {
  return rows<{ name: string; table: string; target: string; pairs: string[][] }>(
    `select k.conname as name, k.conrelid::regclass::text as table, k.confrelid::regclass::text as target,
       (select json_agg(json_build_array(a.attname, b.attname)) from unnest(k.conkey, k.confkey) u (own, other)
        join pg_attribute a on a.attrelid = k.conrelid and a.attnum = u.own
        join pg_attribute b on b.attrelid = k.confrelid and b.attnum = u.other) as pairs
     from pg_constraint k where k.contype = 'f' and k.conparentid = 0 order by 2, 1`,
  );
}

describe('deploy/citus', () => {
  test('places every table once, each after the tables that its foreign keys name', async () => {
    const order = [...placements.keys()];
    const partitions = new Set([...everyPlacement.keys()].slice(order.length));
    expect(order.toSorted()).toEqual([...columns.keys()].filter((name) => !partitions.has(name)).toSorted());
    for (const { name, column } of [...placements].flatMap(([table, placement]) =>
      placement.kind === 'distributed' ? [{ name: table, column: placement.column }] : [],
    ))
      expect(columns.get(name)).toContain(column);
    const leaders = [...placements.values()].flatMap((each) =>
      each.kind === 'distributed' ? [each.group] : [],
    );
    for (const leader of leaders) expect(placements.get(leader)).toMatchObject({ group: leader });
    for (const { table, target } of await listForeignKeys())
      expect(order.indexOf(target), `${table} refers to ${target}`).toBeLessThan(order.indexOf(table));
  });

  test('has no foreign key from one node to another', async () => {
    const across = (await listForeignKeys()).filter(
      ({ table, target, pairs }) => !isPermittedKey(placements.get(table), placements.get(target), pairs),
    );
    expect(across).toEqual([]);
    const thread = placements.get('threads');
    expect(isPermittedKey(placements.get('thread_members'), thread, [['agent_id', 'id']])).toBe(false);
    expect(isPermittedKey(placements.get('feed'), thread, [['agent_id', 'id']])).toBe(false);
    expect(isPermittedKey(placements.get('agents'), thread, [['id', 'id']])).toBe(false);
  });

  test('needs keys.sql for two keys, and for no more', async () => {
    expect(await listKeysWithoutColumn()).toEqual(['message_search_pkey', 'messages_pkey']);
    await client.query(readScript('keys.sql'));
    expect(await listKeysWithoutColumn()).toEqual([]);
    // distribute.sql adds the key again that keys.sql drops.
    const [again = ''] = /^alter table .*$/m.exec(readScript('distribute.sql')) ?? [];
    await client.query(again);
    const names = (await listForeignKeys()).filter(({ table }) => table === 'thread_members');
    expect(names.map(({ target }) => target).toSorted()).toEqual(['agents', 'threads']);
    expect(() => parseSync(readScript('distribute.sql'))).not.toThrow();
  });
});

describe('the statements of the repositories', () => {
  let made: MadeStatement[];
  let places: string[];
  beforeAll(async () => {
    ({ made, places } = await listStatements());
  });

  test('are all made when their modules load, but for partitions', () => {
    const seen = new Set(made.map(({ place }) => place));
    expect(places.length).toBeGreaterThan(400);
    const unseen = places.filter((place) => !seen.has(place)).map((place) => place.replace(/:\d+$/, ''));
    // They name a partition of one table, in a run of maintenance.
    expect([...new Set(unseen)].toSorted()).toEqual([
      'src/repositories/maintenance/partition-series.ts',
      'src/repositories/maintenance/partitions.ts',
    ]);
  });

  test('break the rules of Citus only where docs/scaling.md says so', () => {
    const found = new Map<string, string[]>();
    for (const { name, text, place } of made) {
      const breaches = checkStatement(text, columns, everyPlacement);
      const id = name ?? relative('src/repositories', place.replace(/:\d+$/, ''));
      if (breaches.length > 0)
        found.set(id, [...new Set([...(found.get(id) ?? []), ...breaches])].toSorted());
    }
    const page = readFileSync(join(root, 'docs/scaling.md'), 'utf8');
    const [, table = ''] = /### Statements that break the rules\n([^]*?)\n#/.exec(page) ?? [];
    const listed = table
      .split('\n')
      .filter((row) => row.startsWith('| `'))
      .flatMap((row) => {
        const [, names = '', breaches = ''] = row.split('|');
        return Array.from(names.matchAll(/`([^`]+)`/g), ([, name = '']) => [name, breaches.trim()] as const);
      });
    const asText = [...found].map(([id, breaches]) => [id, breaches.join(', ')] as const);
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(asText));
    expect(new Set(listed.map(([name]) => name)).size).toBe(listed.length);
  });

  test.each([
    ['select * from messages m join threads t on t.id = m.thread_id', ''],
    ['select * from messages m join agents a on a.id = m.sender_id', ''],
    ['select * from messages m join events e on e.message_id = m.id', 'join'],
    ['select * from messages m join message_search s on s.message_id = m.id where m.thread_id = $1', 'join'],
    [
      'select * from messages m join message_search s on s.message_id = m.id where m.thread_id = $1 and s.thread_id = $1',
      '',
    ],
    ['select * from threads t join feed f on f.agent_id = t.id', 'join'],
    ['select * from feed f join sessions s on s.account_id = f.agent_id', 'coordinator'],
    [
      'select * from agents a where exists (select from thread_members v where v.agent_id = a.id)',
      'correlated',
    ],
    [
      'with found as materialized (select agent_id as who from inboxes) select (select max(number) from feed where agent_id = who) from found',
      'correlated',
    ],
    ['select (select max(sequence) from messages m where m.thread_id = t.id) from threads t', ''],
    ['select * from threads where id = any($1) order by id for update', 'lock'],
    ['select * from threads where id = $1 for update', ''],
    ['with gone as (delete from feed where event_id = $1) select 1', 'write'],
    ['with gone as (delete from feed where agent_id = $1) select 1', ''],
    ['with found as materialized (select id from threads) select * from found join messages on true', ''],
    ['delete from feed where ctid = any(array(select ctid from feed limit 1))', 'row version'],
    ['select xmin from feed_heads where agent_id = $1', 'row version'],
    ['update messages set thread_id = $1 where id = $2', 'assigns'],
    ['insert into usage_days (day) values ($1) on conflict (day, recipients_hash) do nothing', 'conflict'],
    [
      'with recursive r as (select id from threads union all select m.thread_id from messages m join r on r.id = m.reply_to) select * from r',
      'recursive',
    ],
  ])('%s breaks: %s', (text, breaches) => {
    expect(checkStatement(text, columns, everyPlacement).join(', ')).toBe(breaches);
  });
});
