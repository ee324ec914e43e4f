import { spawn } from 'node:child_process';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { migrateBack, migrateForward, pendingMigrations } from '../../../src/platform/database/migrations.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';

let url: string;
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ url, drop } = await createTestDatabase());
});
afterAll(() => drop());

async function rows<Row extends object>(text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
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

test('every migration can be reverted and applied again by concurrent processes', async () => {
  const before = await tables();
  const undone: string[] = [];
  for (;;) {
    const [name] = await migrateBack(url);
    if (name === undefined) break;
    undone.push(name);
  }
  expect(await tables()).toEqual([]);
  expect(await pendingMigrations(url)).toEqual(undone.toReversed());
  const runs = await Promise.all([migrateForward(url), migrateForward(url), migrateForward(url)]);
  expect(runs.flat()).toEqual(undone.toReversed());
  expect(await pendingMigrations(url)).toEqual([]);
  expect(await tables()).toEqual(before);
});

test('the index of a long audit log is built during writes, and built again after a killed run', async () => {
  for (let [name] = await migrateBack(url); name !== undefined && !name.startsWith('0047-');) {
    [name] = await migrateBack(url);
  }
  const act = (id: string) =>
    `insert into audit_log (id, act, by_kind, door, at) values ('${id}', 'organization.founded', 'operator', 'cli', 1)`;
  await rows('create index audit_log_organization on audit_log (at)');
  await rows(`update pg_index set indisvalid = false where indexrelid = 'audit_log_organization'::regclass`);
  const writer = new pg.Client({ connectionString: url });
  await writer.connect();
  onTestFinished(() => writer.end());
  await writer.query('begin');
  await writer.query(act('aud_1'));
  const untilWaiting = (count: number) =>
    vi.waitFor(async () => {
      const waiting = await rows(`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%index concurrently%'`);
      expect(waiting.length).toBe(count);
    }, 60_000);
  const killed = spawn(process.execPath, ['dist/src/migrate.js'], {
    env: { ...process.env, DATABASE_URL: url, SECRET_KEY: 'a secret that is long enough for a service' },
    stdio: 'ignore',
  });
  onTestFinished(() => void killed.kill('SIGKILL'));
  await untilWaiting(1);
  killed.kill('SIGKILL');
  // The server would wait two more minutes.
  await untilWaiting(0);

  const logged: string[] = [];
  const run = migrateForward(url, (line) => void logged.push(line));
  await untilWaiting(1);
  // This statement would wait too if another one waited for the lock on the table.
  await rows(`set lock_timeout = '10s'; ${act('aud_2')}`);
  const [{ pid } = { pid: 0 }] = (await writer.query<{ pid: number }>('select pg_backend_pid() as pid')).rows;
  const named = new RegExp(
    `^the migration waits for the transaction of process ${pid} \\(.*idle in transaction`,
  );
  await vi.waitFor(() => expect(logged).toContainEqual(expect.stringMatching(named)), 60_000);
  await writer.query('commit');
  expect(await run).toContain('0047-audit-log-by-organization');
  const [index] =
    await rows(`select indisvalid as valid, pg_get_indexdef(indexrelid) as definition from pg_index
    where indexrelid = 'audit_log_organization'::regclass`);
  expect(index).toMatchObject({ valid: true, definition: expect.stringContaining('(about, id)') });
});

test('the schema of a newer release is not changed', async () => {
  await rows(`insert into schema_migrations (name, batch, migration_time)
    select '9999-of-a-newer-release', max(batch) + 1, now() from schema_migrations`);
  expect(await migrateForward(url)).toEqual([]);
  expect(await pendingMigrations(url)).toEqual([]);
  await rows(`delete from schema_migrations where name like '9999-%'`);
});

test('a killed migration does not block the next one', async () => {
  await rows('update schema_migrations_lock set is_locked = 1');
  expect(await migrateForward(url)).toEqual([]);
});
