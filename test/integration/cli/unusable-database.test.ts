import { expect, onTestFinished, test } from 'vitest';
import { runCli } from '../../clients/cli.ts';
import { copyDatabase, createEmptyDatabase } from '../../support/servers/postgres/database.ts';
import { useAuthorizationServer } from '../oauth/authorization-server.ts';

const authority = useAuthorizationServer();

test('a database with another encoding than UTF8 is not migrated, and doctor says so', async () => {
  const database = await copyDatabase('template0', `encoding LATIN1 locale_provider libc locale 'C'`);
  onTestFinished(() => database.drop());
  const env = { ...authority.env, DATABASE_URL: database.url };
  const { code, err } = await runCli(env, ['migrate']);
  expect([code, err]).toEqual([1, expect.stringMatching(/LATIN1.*--encoding UTF8/)]);
  const { out } = await runCli(env, ['doctor']);
  expect(out).toMatch(/^FAIL +database .*LATIN1/m);
});

test('doctor names what to raise when PostgreSQL accepts no more connections', async () => {
  await authority.sql("create role full_role login password 'full' connection limit 0");
  onTestFinished(async () => void (await authority.sql('drop role full_role')));
  const url = new URL(authority.env.DATABASE_URL);
  Object.assign(url, { username: 'full_role', password: 'full' });
  const { out } = await runCli({ ...authority.env, DATABASE_URL: url.href }, ['doctor']);
  expect(out).toMatch(/^FAIL +database +too many connections[^→]+→.*max_connections/m);
});

test('a command before the first migration says to migrate', async () => {
  const database = await createEmptyDatabase();
  onTestFinished(() => database.drop());
  const { code, err } = await runCli({ ...authority.env, DATABASE_URL: database.url }, ['agent', 'list']);
  expect([code, err]).toEqual([
    1,
    'error: relation "agents" does not exist; run: ams migrate, or correct DATABASE_URL\n',
  ]);
});
