import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startProcess } from '../../../scripts/parts/service-process.ts';
import { runCli } from '../../clients/cli.ts';
import { requestRest } from '../../clients/rest.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { findFreePort } from '../../support/free-port.ts';
import { missingNginxReason, startNginx } from '../../support/servers/nginx.ts';
import { findDebianPostgres, startDebianPostgres } from '../../support/servers/postgres/debian.ts';
import { startTestRedis } from '../../support/servers/redis/server.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';

vi.setConfig({ testTimeout: 240_000 });

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/team.md'), 'utf8');
const run = promisify(execFile);
const binaries = await findDebianPostgres();

/** The blocks of the page in this language. */
const blocksOf = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, block = '']) => block);

const [apiUnit = '', workerUnit = ''] = blocksOf('systemd');
const [nginx = ''] = blocksOf('nginx');

/** The settings that a unit adds, and the arguments of its command. */
function readUnit(unit: string) {
  const line = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
  const [command = '', ...args] = line('ExecStart').split(' ');
  expect(command).toBe('/opt/ams/node_modules/.bin/ams');
  return { env: parseEnv(line('Environment').replaceAll(' ', '\n')) as Record<string, string>, args };
}

/** The settings of the page, for a database and a Redis of this test. Without what this test has no server for. */
function settingsFor(database: string, redis: string, publicPort: number): Record<string, string> {
  const [shown = ''] = blocksOf('ini');
  return {
    ...(parseEnv(shown) as Record<string, string>),
    DATABASE_URL: database,
    REDIS_URL: redis,
    SECRET_KEY: randomBytes(32).toString('base64'),
    PUBLIC_URL: `https://localhost:${publicPort}`,
    S3_ENDPOINT: '',
    S3_BUCKET: '',
    S3_ACCESS_KEY_ID: '',
    S3_SECRET_ACCESS_KEY: '',
    CLAMD_URL: '',
    SMTP_URL: '',
    SMTP_FROM: '',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'info',
  };
}

async function setUp() {
  const [postgres, redis, data] = await Promise.all([
    startDebianPostgres(binaries ?? ''),
    startTestRedis(),
    mkdtemp(join(tmpdir(), 'ams-team-')),
  ]);
  onTestFinished(async () => {
    await Promise.all([postgres.stop(), redis.stop()]);
    await rm(data, { recursive: true, force: true });
  });
  const publicPort = await findFreePort();
  const env = settingsFor(postgres.url, redis.url, publicPort);
  expect((await runCli(env, ['migrate'])).code).toBe(0);

  /** Starts a process as its unit does, on a machine of its own: with ports of its own. */
  async function start(part: 'api' | 'worker') {
    const { env: own, args } = readUnit(part === 'api' ? apiUnit : workerUnit);
    const ports = { PORT: String(await findFreePort()), OPS_PORT: String(await findFreePort()) };
    const program = { entry: join(root, 'dist/src/cli/main.js'), nodeArguments: [], arguments: args };
    const started = await startProcess(part, { ...env, ...own, ...ports, DATA_DIR: data }, { program });
    onTestFinished(() =>
      started.kill9().then(
        () => undefined,
        () => undefined,
      ),
    );
    return { ...started, port: ports.PORT };
  }
  const apis = [await start('api'), await start('api')] as const;
  const workers = [await start('worker'), await start('worker')];

  /** The proxy of the page. */
  const serve = (port: number, more: readonly (readonly [string, string])[] = []) =>
    startNginx(nginx, [
      ['  listen 80;', `  listen 127.0.0.1:${port + 1};`],
      ['listen 443 ssl http2;', `listen 127.0.0.1:${port} ssl http2;`],
      ['app-1.internal:3000', `127.0.0.1:${apis[0].port}`],
      ['app-2.internal:3000', `127.0.0.1:${apis[1].port}`],
      ['/var/log/nginx/ams.log', join(data, 'access.log')],
      ...more,
    ]);
  await serve(publicPort);
  return { postgres, env, data, apis, workers, serve, url: env['PUBLIC_URL'] ?? '' };
}

const missing =
  missingNginxReason ??
  (binaries === undefined ? 'no PostgreSQL of Debian with pg_dump in /usr/lib/postgresql' : undefined);

describeUnless(missing, 'a team that follows docs/team.md', () => {
  test('serves two agents over TLS, is checked from outside, restarts a machine, and restores its backup', async () => {
    // The certificate of the tests is signed by itself.
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { postgres, env, data, apis, serve, url } = await setUp();
    await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), 60_000);

    const checked = await runCli({}, ['doctor', '--public', url]);
    expect([checked.code, checked.err], checked.out).toEqual([0, '']);

    const token = await createAgents(env);
    const bob = await connectWebSocket(`${url.replace('https', 'wss')}/ws`, { token: token.bob });
    const send = (body: object) => requestRest('POST', `${url}/v1/threads`, { token: token.ann, body });
    const sent = await send({ with_handle: 'bob.reader', initial_message: 'Hello' });
    expect(sent.status, sent.text).toBe(201);
    await vi.waitFor(() => expect(JSON.stringify(bob.events())).toContain('Hello'), 30_000);

    // The other machine answers while one restarts.
    await apis[0].terminate();
    expect((await send({ with_handle: 'bob.reader', initial_message: 'Again' })).status).toBe(201);

    await restoreBackup(postgres.url, data);
    expect(readFileSync(join(data, 'access.log'), 'utf8')).not.toMatch(/\?/);

    const badPort = await findFreePort();
    await serve(badPort, [
      ['client_max_body_size 52m', 'client_max_body_size 1m'],
      ['proxy_set_header Upgrade $http_upgrade', 'proxy_set_header Upgrade ""'],
      ['proxy_set_header Host $http_host', 'proxy_set_header Host other.example'],
    ]);
    const bad = `https://localhost:${badPort}`;
    await vi.waitFor(async () => expect((await fetch(`${bad}/readyz`)).status).toBe(200), 60_000);
    const found = await runCli({}, ['doctor', '--public', bad]);
    expect(found.code).toBe(1);
    expect(found.err).toContain('checks failed: host, websocket, bodies, issuer\n');
    // The configuration to copy, for this host.
    expect(found.out).toContain('server_name localhost;');
  });
});

/** Two agents, each with a token. */
async function createAgents(env: Record<string, string>): Promise<{ ann: string; bob: string }> {
  const tokens = [];
  for (const handle of ['ann.writer', 'bob.reader']) {
    const access = ['--visibility', 'public', '--inbound-policy', 'open'];
    const created = await runCli(env, ['agent', 'create', handle, '--create-owner', ...access]);
    expect(created.code, created.err).toBe(0);
    const { access_token } = JSON.parse((await runCli(env, ['token', handle, '--json'])).out);
    tokens.push(String(access_token));
  }
  return { ann: tokens[0] ?? '', bob: tokens[1] ?? '' };
}

/** Runs the script of the page, then restores its dump beside the service as the page says, and compares the counts. */
async function restoreBackup(database: string, data: string): Promise<void> {
  const script = blocksOf('sh').find((block) => block.startsWith('#!/bin/sh')) ?? '';
  const file = join(data, 'ams-backup');
  await writeFile(file, script, { mode: 0o700 });
  const { port, username } = new URL(database);
  const env = {
    PATH: `${binaries}:${process.env['PATH']}`,
    AMS_BACKUPS: join(data, 'backups'),
    DATABASE_URL: database,
    PGHOST: '127.0.0.1',
    PGPORT: port,
    PGUSER: username,
    PGDATABASE: 'postgres',
  };
  // As `install -d` on the page.
  await mkdir(env.AMS_BACKUPS, { mode: 0o700 });
  await run(file, [], { env });
  expect(await readdir(env.AMS_BACKUPS)).toEqual([expect.stringMatching(/^ams-\d{4}-\d\d-\d\d\.dump$/)]);
  const steps = blocksOf('sh').find((block) => block.startsWith('createdb ams_restored')) ?? '';
  const restored = await run('bash', ['-euc', steps.replace('/var/backups/ams', env.AMS_BACKUPS)], { env });
  expect(restored.stdout.trim()).toBe('2');
}

const missingPrograms =
  (
    await run('sh', ['-c', 'for name in systemd-analyze caddy; do command -v $name; done | wc -l'])
  ).stdout.trim() !== '2';

describeUnless(
  missingPrograms ? 'no systemd-analyze or no caddy' : undefined,
  'the programs of the page',
  () => {
    test('accept the units and the configuration of Caddy', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'ams-units-'));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const program = join(folder, 'ams');
      await writeFile(program, '#!/bin/sh\n', { mode: 0o755 });
      for (const [name, unit] of Object.entries({ 'ams-api': apiUnit, 'ams-worker': workerUnit })) {
        const file = join(folder, `${name}.service`);
        await writeFile(
          file,
          unit.replace('/opt/ams/node_modules/.bin/ams', program).replace('User=ams', 'User=root'),
        );
        const { stderr } = await run('systemd-analyze', ['verify', file]);
        expect(stderr).not.toContain(name);
      }
      const [caddy = ''] = blocksOf('caddy');
      const file = join(folder, 'Caddyfile');
      await writeFile(file, caddy);
      const adapted = await run(
        'caddy',
        ['adapt', '--validate', '--adapter', 'caddyfile', '--config', file],
        {
          env: { ...process.env, HOME: folder },
        },
      );
      expect(adapted.stdout).toContain('app-2.internal:3000');
    });
  },
);
