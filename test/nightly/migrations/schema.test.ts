import { expect, test } from 'vitest';
import { migrateBack, migrateForward, pendingMigrations } from '../../../src/platform/database/migrations.ts';
import { createTestDatabase, queryOnce } from '../../support/servers/postgres/database.ts';
import { use } from '../../support/use.ts';

const database = use(createTestDatabase);

const queries: Parameters<typeof pendingMigrations>[0] = { query: ({ text }) => rows(text) };

async function rows<Row extends object>(text: string): Promise<Row[]> {
  return (await queryOnce<Row>(database.url, text)).rows;
}

const tables = () =>
  rows<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_name not like 'schema_migrations%' order by 1`,
  );

const foreignKeysWithoutIndex = () =>
  rows<{ key: string }>(`
    select c.conrelid::regclass || ' ' || c.conname as key from pg_constraint c
    where c.contype = 'f' and not exists (
      select from pg_index i where i.indrelid = c.conrelid
      and (i.indkey::int2[])[0:array_length(c.conkey, 1) - 1] @> c.conkey)`);

test('every foreign key is indexed', async () => {
  expect(await foreignKeysWithoutIndex()).toEqual([]);
  // The check can fail: it finds a key without an index.
  await rows('create table probe (id text references agents)');
  expect(await foreignKeysWithoutIndex()).toEqual([{ key: 'probe probe_id_fkey' }]);
  await rows('drop table probe');
});

test('times are integer milliseconds: no column has a date or time type', async () => {
  const found = await rows(
    `select table_name, column_name from information_schema.columns
     where table_schema = 'public' and data_type ~ 'time|date|interval' and table_name not like 'schema_migrations%'`,
  );
  expect(found).toEqual([]);
});

// Each of some 70 migrations back is a step of its own.
test('every migration can be reverted and applied again by concurrent processes', async () => {
  const before = await tables();
  const undone: string[] = [];
  for (;;) {
    const [name] = await migrateBack(database.url);
    if (name === undefined) break;
    undone.push(name);
  }
  expect(await tables()).toEqual([]);
  expect(await pendingMigrations(queries)).toEqual(undone.toReversed());
  const runs = await Promise.all([
    migrateForward(database.url),
    migrateForward(database.url),
    migrateForward(database.url),
  ]);
  expect(runs.flat()).toEqual(undone.toReversed());
  expect(await pendingMigrations(queries)).toEqual([]);
  expect(await tables()).toEqual(before);
});

test('the schema of a newer release is not changed', async () => {
  await rows(`insert into schema_migrations (name, batch, migration_time)
    select '9999-of-a-newer-release', max(batch) + 1, now() from schema_migrations`);
  expect(await migrateForward(database.url)).toEqual([]);
  expect(await pendingMigrations(queries)).toEqual([]);
  await rows(`delete from schema_migrations where name like '9999-%'`);
});

test('a killed migration does not block the next one', async () => {
  await rows('update schema_migrations_lock set is_locked = 1');
  expect(await migrateForward(database.url)).toEqual([]);
});
