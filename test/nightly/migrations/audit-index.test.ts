import { spawn } from 'node:child_process';
import { expect, onTestFinished, test, vi } from 'vitest';
import { migrateBack, migrateForward } from '../../../src/platform/database/migrations.ts';
import { connectTo, createTestDatabase, queryOnce } from '../../support/servers/postgres/database.ts';
import { use } from '../../support/use.ts';

const database = use(createTestDatabase);

async function rows(text: string): Promise<object[]> {
  return (await queryOnce<object>(database.url, text)).rows;
}

test('the index of a long audit log is built during writes, and built again after a killed run', async () => {
  for (let [name] = await migrateBack(database.url); name !== undefined && !name.startsWith('0047-');) {
    [name] = await migrateBack(database.url);
  }
  const act = (id: string) =>
    `insert into audit_log (id, act, by_kind, door, at) values ('${id}', 'organization.founded', 'operator', 'cli', 1)`;
  await rows('create index audit_log_organization on audit_log (at)');
  await rows(`update pg_index set indisvalid = false where indexrelid = 'audit_log_organization'::regclass`);
  const writer = await connectTo(database.url);
  await writer.query('begin');
  await writer.query(act('aud_1'));
  const untilWaiting = (count: number) =>
    vi.waitFor(async () => {
      const waiting = await rows(`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%index concurrently%'`);
      expect(waiting.length).toBe(count);
    }, 60_000);
  const killed = spawn(process.execPath, ['dist/src/cli/main.js', 'migrate'], {
    env: {
      ...process.env,
      DATABASE_URL: database.url,
      SECRET_KEY: 'a secret that is long enough for a service',
    },
    stdio: 'ignore',
  });
  onTestFinished(() => void killed.kill('SIGKILL'));
  await untilWaiting(1);
  killed.kill('SIGKILL');
  // The server would wait two more minutes.
  await untilWaiting(0);

  const logged: string[] = [];
  const run = migrateForward(database.url, (line) => void logged.push(line));
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
