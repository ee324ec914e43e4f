import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { toOneLine } from '../../../src/embedded/launcher-error.ts';
import { type PostgresOptions, startPostgres } from '../../../src/embedded/postgres/start-postgres.ts';
import { isGone, createTemporaryFolder, readPostgresPid } from '../../integration/embedded/setup.ts';
import { stopAfterTest } from '../../support/use.ts';

const settings = { shared_buffers: '16MB', max_connections: '10' };

async function start(options: PostgresOptions) {
  return stopAfterTest(await startPostgres({ throwaway: true, settings, ...options }));
}

async function query(url: string, sql: string): Promise<unknown> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {}); // the server may end under it
  await client.connect();
  try {
    const result = await client.query<{ value: unknown }>(sql);
    return result.rows[0]?.value;
  } finally {
    await client.end();
  }
}

const failure = (attempt: Promise<unknown>) => attempt.then(() => 'no failure', toOneLine);

test('a new server accepts the password over TCP, has the extensions, folds accents, and keeps data and port', async () => {
  const dataDir = createTemporaryFolder();
  const first = await start({ dataDir });
  expect(await query(first.url, `SELECT lower('ÉÅ') AS value`)).toBe('éå');
  expect(await query(first.url, `SELECT current_setting('listen_addresses') AS value`)).toBe('127.0.0.1');
  for (const made of ['EXTENSION pg_trgm', 'EXTENSION unaccent', 'TABLE kept ()']) {
    await query(first.url, `CREATE ${made}`);
  }
  const wrong = new URL(first.url);
  wrong.password = 'guessed';
  expect(await failure(query(wrong.href, 'SELECT 1'))).toMatch(/password authentication failed/);
  await first.stop();

  const second = await start({ dataDir });
  expect(second.url).toBe(first.url);
  expect(await query(second.url, `SELECT to_regclass('kept')::text AS value`)).toBe('kept');
});

test('new secrets apply to an existing data folder', async () => {
  const dataDir = createTemporaryFolder();
  const first = await start({ dataDir });
  await first.stop();
  rmSync(join(dataDir, 'secrets.json'));
  const second = await start({ dataDir });
  expect(second.url).not.toBe(first.url);
  expect(await query(second.url, 'SELECT 1 AS value')).toBe(1);
});

test('an orphan is stopped first; a pid file with the pid of another program is ignored', async () => {
  const dataDir = createTemporaryFolder();
  const orphan = await start({ dataDir });
  const pid = readPostgresPid(dataDir);
  rmSync(join(dataDir, 'run'), { recursive: true }); // only postmaster.pid tells
  const next = await start({ dataDir });
  expect(isGone(pid)).toBe(true);
  expect(next.url).toBe(orphan.url);
  await next.stop();

  writeFileSync(join(next.folder, 'postmaster.pid'), `${process.ppid}\n${next.folder}\n`);
  const last = await start({ dataDir });
  expect(await query(last.url, 'SELECT 1 AS value')).toBe(1);
});

test('after a crash the next start has its data', async () => {
  const dataDir = createTemporaryFolder();
  const server = await start({ dataDir, throwaway: false });
  await query(server.url, 'CREATE TABLE kept ()');
  process.kill(readPostgresPid(dataDir), 'SIGKILL');
  expect(await server.ended).toBe('SIGKILL');
  const next = await start({ dataDir, throwaway: false });
  expect(await query(next.url, `SELECT to_regclass('kept')::text AS value`)).toBe('kept');
});

test('an impossible configuration is refused in one line', async () => {
  const dataDir = createTemporaryFolder();
  const server = await start({ dataDir });
  const taken = failure(start({ dataDir: createTemporaryFolder(), port: server.port }));
  expect(await taken).toMatch(new RegExp(`^postgres: port ${server.port} on 127.0.0.1 is taken`));
  await server.stop();

  const wrong = start({ dataDir, settings: { shared_buffers: 'plenty' } });
  expect(await failure(wrong)).toMatch(/^postgres: .*shared_buffers/);

  writeFileSync(join(server.folder, 'PG_VERSION'), '17\n');
  expect(await failure(start({ dataDir }))).toMatch(/was created by PostgreSQL 17, but this is version 18: /);

  rmSync(join(server.folder, 'PG_VERSION'));
  expect(await failure(start({ dataDir }))).toMatch(/is not empty and is not a PostgreSQL data folder/);
});

test.runIf(process.getuid?.() === 0)(
  'for root, in a folder that only root can enter, PostgreSQL uses another folder and logs it',
  async () => {
    const dataDir = join(createTemporaryFolder(), 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    writeFileSync(join(dataDir, 'of-mine'), ''); // an empty folder would be opened
    const server = await start({ dataDir });
    onTestFinished(() => rmSync(server.folder, { recursive: true }));
    expect(server.note).toMatch(/cannot enter .*, so .*its data is in \/var\//);
    expect(await query(server.url, 'SELECT 1 AS value')).toBe(1);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    await server.stop();
    expect((await start({ dataDir })).folder).toBe(server.folder);
  },
);

test('several run side by side', async () => {
  const servers = await Promise.all(
    [createTemporaryFolder(), createTemporaryFolder()].map((dataDir) => start({ dataDir })),
  );
  expect(new Set(servers.map(({ port }) => port)).size).toBe(2);
});
