import { connectTo } from '../../support/servers/postgres/database.ts';
import { expect, onTestFinished, test } from 'vitest';
import { recycledWalSettings, recycleWal } from '../../../bench/start/recycled-wal.ts';
import { startPostgres } from '../../../src/embedded/postgres/start-postgres.ts';
import { createFolder } from '../../support/use.ts';

test('a measured PostgreSQL has almost 1 GB of write-ahead log to reuse', async () => {
  const dataDir = await createFolder();
  const server = await startPostgres({ dataDir, settings: recycledWalSettings });
  onTestFinished(() => server.stop());
  await recycleWal(server.url);
  const client = await connectTo(server.url);
  const { rows } = await client.query<{ files: number }>(
    'select count(*)::int as files from pg_ls_waldir() where name > pg_walfile_name(pg_current_wal_lsn())',
  );
  expect(rows[0]?.files).toBeGreaterThanOrEqual(56);
});
