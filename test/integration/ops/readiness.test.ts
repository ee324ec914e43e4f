import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { requestRest } from '../../clients/rest.ts';
import { startService } from '../../support/service.ts';
import { stopAfterTest } from '../../support/use.ts';

/** A service that was not ready yet, and another connection to its database. */
async function startUnready() {
  const service = stopAfterTest(await startService({ worker: false }));
  const holder = new pg.Client({ connectionString: service.env['DATABASE_URL'] });
  await holder.connect();
  onTestFinished(() => holder.end());
  return { holder, readiness: async () => (await requestRest('GET', `${service.url}/readyz`)).status };
}

test('a process that starts while a migration runs is ready', async () => {
  const { holder, readiness } = await startUnready();
  // As a migration holds it to its end.
  await holder.query('select pg_advisory_lock(7310552901)');
  expect(await readiness()).toBe(200);
});

test('a readiness check whose connection ends fails, and the next one succeeds', async () => {
  const { holder, readiness } = await startUnready();
  await holder.query('begin; lock table schema_migrations in access exclusive mode');
  const first = readiness();
  const waiting = `select distinct pid from pg_locks where relation = 'schema_migrations'::regclass and not granted`;
  const find = async () => (await holder.query<{ pid: number }>(waiting)).rows;
  await expect.poll(find).toHaveLength(1);
  await holder.query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [
    (await find()).map(({ pid }) => pid),
  ]);
  expect(await first).toBe(503);
  await holder.query('rollback');
  await expect.poll(readiness).toBe(200);
});
