import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { bundledProgram } from '../../support/vitest/bundled-program.ts';
import { createEmptyDatabase } from '../../support/servers/postgres/database.ts';
import { startFaultyS3 } from '../../support/servers/faulty-s3.ts';
import { useAuthorizationServer } from '../oauth/authorization-server.ts';
import { runCli } from '../../clients/cli.ts';
import { listen } from '../../support/servers/listen.ts';

const authority = useAuthorizationServer();
beforeAll(async () => {
  await authority.sql(
    `insert into worker_nodes (id, roles, seen_at) values ('one', '{delivery,search-indexing,attachment-scanning,maintenance}', 9e15)`,
  );
});

const report = z.strictObject({
  ok: z.boolean(),
  checks: z.array(
    z.strictObject({
      part: z.string(),
      status: z.enum(['ok', 'failed', 'not_checked']),
      detail: z.string(),
      advice: z.string().optional(),
    }),
  ),
});

async function doctor(env: Record<string, string>) {
  const { code, out, err } = await runCli(env, ['doctor', '--json']);
  const { ok, checks } = report.parse(JSON.parse(out));
  expect(ok).toBe(code === 0);
  return { code, err, ill: checks.filter(({ status }) => status === 'failed'), checks };
}

describe('doctor', () => {
  test('reports a working service', async () => {
    const server = createServer((request, response) => {
      response.statusCode = request.url === '/readyz' ? 200 : 404;
      response.end('{}');
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const { code, err, ill, checks } = await doctor({
      ...authority.env,
      PUBLIC_URL: `http://127.0.0.1:${port}`,
    });
    expect([code, err, ill]).toEqual([0, '', []]);
    expect(checks.map(({ part }) => part)).toEqual([
      'settings',
      'database',
      'writes',
      'schema',
      'secret',
      'limits',
      'clocks',
      'replicas',
      'queues',
      'prefix',
      'bus',
      'backlog',
      'workers',
      'retention',
      'partitions',
      'feeds',
      'files',
      'scanner',
      'api',
      'mail',
      'issuer',
      'documents',
      'remote',
    ]);
    await new Promise((resolve) => void server.close(resolve));
  });

  test('names the invalid setting', async () => {
    const { code, err, ill } = await doctor({ ...authority.env, SECRET_KEY: 'short' });
    expect([code, err]).toEqual([1, 'error: checks failed: settings\n']);
    expect(ill).toEqual([
      expect.objectContaining({ part: 'settings', detail: expect.stringMatching(/^SECRET_KEY: /) }),
    ]);
  });

  test('reports what is unreachable and what to do', async () => {
    const { ill } = await doctor({
      ...authority.env,
      PUBLIC_URL: 'http://127.0.0.1:9',
      REDIS_URL: 'redis://127.0.0.1:9',
    });
    expect(ill.map(({ part }) => part)).toEqual(['queues', 'api']);
    for (const { detail, advice } of ill) {
      expect(detail).not.toBe('');
      expect(advice).not.toBe('');
    }
  });

  test('names one cause while the database is away', async () => {
    const away = { PUBLIC_URL: 'http://127.0.0.1:9', DATABASE_URL: 'postgres://unknown@127.0.0.1:9/x' };
    const nothing = await doctor({ ...authority.env, ...away });
    expect(nothing.ill.map(({ part }) => part)).toEqual(['database']);
    expect(nothing.err).toBe('error: checks failed: database\n');
    // Redis is another part with a cause of its own.
    const both = await doctor({ ...authority.env, ...away, REDIS_URL: 'redis://127.0.0.1:9' });
    expect(both.ill.map(({ part }) => part)).toEqual(['database', 'queues']);
  });

  test('lists what it did not check, with the part that it needs', async () => {
    const { out } = await runCli({ ...authority.env, REDIS_URL: 'redis://127.0.0.1:9' }, ['doctor']);
    expect(out).toMatch(/^FAIL +queues /m);
    const skipped = [...out.matchAll(/^not checked +(\w+) +needs (\w+)$/gm)].map(([, ...found]) => found);
    expect(skipped).toEqual(['prefix', 'bus', 'backlog'].map((part) => [part, 'queues']));
  });

  test('names a read-only database', async () => {
    const url = new URL(authority.env.DATABASE_URL);
    url.searchParams.set('options', '-c default_transaction_read_only=on');
    const { ill, checks } = await doctor({ ...authority.env, DATABASE_URL: url.href });
    expect(ill).toMatchObject([
      {
        part: 'writes',
        detail: expect.stringMatching(/read-only/),
        advice: expect.stringMatching(/standby/),
      },
    ]);
    expect(checks.find(({ part }) => part === 'api')).toMatchObject({
      status: 'not_checked',
      detail: 'needs schema',
    });
  });

  test('reports that a pooler removes the statement timeouts, unless the role has them', async () => {
    const limitsOf = async (env: Record<string, string>) => {
      const { checks } = await doctor({ ...authority.env, ...env });
      return checks.find(({ part }) => part === 'limits');
    };
    const { DATABASE_URL } = authority.env;
    expect(await limitsOf({})).toMatchObject({
      status: 'ok',
      detail: 'statement_timeout 15 s, lock_timeout 10 s',
    });
    const pooled = { DATABASE_POOLER: 'transaction', DATABASE_DIRECT_URL: DATABASE_URL };
    expect(await limitsOf(pooled)).toMatchObject({
      status: 'failed',
      detail: 'the server has no default for statement_timeout and lock_timeout',
      advice: expect.stringMatching(/alter role/),
    });
    // As settings of the role, without one that would affect other tests.
    const url = new URL(DATABASE_URL);
    url.searchParams.set('options', '-c statement_timeout=4s -c lock_timeout=1500ms');
    expect(await limitsOf({ ...pooled, DATABASE_URL: url.href })).toMatchObject({
      status: 'ok',
      detail: 'statement_timeout 4 s, lock_timeout 1.5 s',
    });
  });

  test('reports what is wrong with a replica', async () => {
    const { DATABASE_URL: url } = authority.env;
    // The database itself is reachable and is no standby.
    const { ill } = await doctor({ ...authority.env, DATABASE_REPLICA_URL: url });
    const { host } = new URL(url);
    expect(ill).toContainEqual(
      expect.objectContaining({ part: 'replicas', detail: `${host}: it is not a standby` }),
    );
  });

  test('reports what is wrong with the file store and the scanner', async () => {
    const store = await startFaultyS3();
    // Accepts everything, and then reports that it was too much.
    const small = createTcpServer((socket) => {
      socket
        .on('error', () => undefined)
        .once('data', (asked) => {
          socket.end(String(asked).startsWith('zPING') ? 'PONG\0' : 'INSTREAM size limit exceeded. ERROR\0');
        });
    });
    const { port } = await listen(small);
    const look = async (env: Record<string, string>, part: string) => {
      const { checks } = await doctor({ ...authority.env, ...env });
      return checks.find((check) => check.part === part);
    };
    expect(await look(store.env, 'files')).toMatchObject({ status: 'ok', detail: 'in the bucket bucket' });
    expect(store.objects.size).toBe(0);
    store.listing.deed = 404;
    expect(await look(store.env, 'files')).toMatchObject({
      status: 'failed',
      detail: 'NoSuchBucket',
      advice: expect.stringMatching(/create the bucket/),
    });
    // A file that goes to the bucket is first written to a folder.
    for (const env of [{}, store.env])
      expect(await look({ ...env, DATA_DIR: '/dev/null' }, 'files')).toMatchObject({
        status: 'failed',
        advice: expect.stringMatching(/^make \/dev\/null writable.*correct DATA_DIR/),
      });
    expect(await look({ CLAMD_URL: `tcp://127.0.0.1:${port}` }, 'scanner')).toMatchObject({
      status: 'failed',
      detail: expect.stringMatching(/INSTREAM size limit exceeded/),
      advice: expect.stringMatching(/StreamMaxLength/),
    });
    small.close();
    await store.close();
  });

  test('names the roles without a running worker, as do commands that depend on one', async () => {
    const { canonical_handle: handle } = await authority.agent();
    await authority.sql(`update worker_nodes set roles = '{delivery,search-indexing}'`);
    const { ill } = await doctor(authority.env);
    expect(ill.find(({ part }) => part === 'workers')).toMatchObject({
      detail: 'no worker is running with the role attachment-scanning, maintenance',
      advice: expect.stringMatching(/WORKER_ROLES/),
    });
    const begun = await runCli(authority.env, ['agent', 'export', handle, '--no-wait']);
    expect([begun.code, begun.err]).toEqual([
      0,
      expect.stringMatching(/^note: no worker with the role maintenance/),
    ]);
    await authority.sql(
      `update worker_nodes set roles = '{delivery,search-indexing,attachment-scanning,maintenance}'`,
    );
    const erased = await runCli(authority.env, ['agent', 'erase', handle, '--confirm', handle, '--no-wait']);
    expect([erased.code, erased.err]).toEqual([0, '']);
    // A killed worker sends no more heartbeats.
    await authority.sql('update worker_nodes set seen_at = 1');
    expect((await doctor(authority.env)).ill.map(({ part }) => part)).toContain('workers');
    await authority.sql('update worker_nodes set seen_at = 9e15');
  });

  test('names migrations that have not run', async () => {
    await authority.sql(
      `delete from schema_migrations where name = (select max(name) from schema_migrations)`,
    );
    const { ill } = await doctor(authority.env);
    expect(ill).toContainEqual(
      expect.objectContaining({
        part: 'schema',
        detail: expect.stringMatching(/^pending migrations: /),
        advice: expect.stringMatching(/^run: ams migrate/),
      }),
    );
  });
});

test('before the first migration, only the schema fails', async () => {
  const database = await createEmptyDatabase();
  onTestFinished(() => database.drop());
  const { checks } = await doctor({ ...authority.env, DATABASE_URL: database.url });
  const status = new Map(checks.map((check) => [check.part, check]));
  expect(status.get('schema')?.advice).toMatch(/^run: ams migrate/);
  for (const part of ['prefix', 'backlog', 'workers', 'retention', 'partitions', 'feeds'])
    expect(status.get(part), part).toMatchObject({ status: 'not_checked', detail: 'needs schema' });
});

describe('the command line', () => {
  test('prints help', async () => {
    const { code, out, err } = await runCli({}, ['--help']);
    expect([code, err]).toEqual([0, '']);
    for (const name of ['account', 'org', 'agent', 'credential', 'token', 'doctor'])
      expect(out).toContain(name);
    expect((await runCli({}, ['credential', '--help'])).out).toContain('revoke');
  });

  test('reports errors in the settings, the database and the command in one line', async () => {
    const settings = await runCli({}, ['token', 'a.b']);
    expect([settings.code, settings.out, settings.err]).toEqual([
      1,
      '',
      expect.stringMatching(/^error: DATABASE_URL: is not set and no service was found; .*\n$/),
    ]);
    const database = await runCli({ ...authority.env, DATABASE_URL: 'postgres://absent@127.0.0.1:9/x' }, [
      'token',
      'a.b',
    ]);
    expect(database.code).toBe(1);
    expect(database.err).toMatch(/^error: The database is temporarily unavailable.*\n$/);
    const command = await runCli({}, ['tokens']);
    expect(command.code).toBe(2);
    expect(command.err).toMatch(/^error: unknown command 'tokens'/);
  });

  test('as a process: only the result on standard output, the exit code for scripts', async () => {
    const { canonical_handle } = await authority.agent();
    const run = (...args: string[]) =>
      promisify(execFile)(process.execPath, [bundledProgram('ams').entry, ...args], {
        env: { PATH: process.env['PATH'], ...authority.env },
      });
    const { stdout, stderr } = await run('token', canonical_handle, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ token_type: 'Bearer' });
    expect(stderr).toBe('');
    await expect(run('token', 'no.body')).rejects.toMatchObject({
      code: 1,
      stderr: 'error: No such agent: no.body\n',
    });
  });
});
