import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { findProgram } from '../../../src/embedded/find-program.ts';
import { startProcess } from '../../../scripts/parts/service-process.ts';
import { runCli } from '../../clients/cli.ts';
import { openFormBrowser } from '../../clients/form-browser.ts';
import { requestRest } from '../../clients/rest.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { findFreePort } from '../../support/free-port.ts';
import { missingCaddyReason, startCaddy } from '../../support/servers/caddy.ts';
import { missingNginxReason, startNginx } from '../../support/servers/nginx.ts';
import { findDebianPostgres, startDebianPostgres } from '../../support/servers/postgres/debian.ts';
import { startTestRedis } from '../../support/servers/redis/server.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { createFolder } from '../../support/use.ts';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/team.md'), 'utf8');
const run = promisify(execFile);
const binaries = await findDebianPostgres();

/** The blocks of the page in this language. */
const blocksOf = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, block = '']) => block);

const [apiUnit = '', workerUnit = ''] = blocksOf('systemd');
const [nginx = ''] = blocksOf('nginx');
const [caddy = ''] = blocksOf('caddy');

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
  const env = settingsFor(postgres.url, redis.url, await findFreePort());
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
  await Promise.all([start('worker'), start('worker')]);
  return { postgres, env, data, apis, url: env['PUBLIC_URL'] ?? '' };
}

type World = Awaited<ReturnType<typeof setUp>>;

/** Starts a proxy of the page, with further texts replaced. */
type Serve = (world: World, port: number, more?: readonly (readonly [string, string])[]) => Promise<void>;

const listMachines = ({ apis }: World) => [
  ['app-1.internal:3000', `127.0.0.1:${apis[0].port}`] as const,
  ['app-2.internal:3000', `127.0.0.1:${apis[1].port}`] as const,
];

const serveNginx: Serve = async (world, port, more = []) =>
  startNginx(nginx, [
    ['  listen 80;', `  listen 127.0.0.1:${await findFreePort()};`],
    ['listen 443 ssl http2;', `listen 127.0.0.1:${port} ssl http2;`],
    ['/var/log/nginx/ams.log', join(world.data, 'access.log')],
    ['/var/log/nginx/error.log', join(world.data, 'error.log')],
    ...listMachines(world),
    ...more,
  ]);

const serveCaddy: Serve = (world, port, more = []) =>
  startCaddy(caddy, [['ams.example.com', `https://localhost:${port}`], ...listMachines(world), ...more]);

const waitUntilServed = (url: string) =>
  vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), 60_000);

/** Starts the service behind a proxy, which talks TLS with the certificate of the tests: it is signed by itself. */
async function startBehind(serve: Serve): Promise<World> {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  onTestFinished(() => void vi.unstubAllEnvs());
  const world = await setUp();
  await serve(world, Number(new URL(world.url).port));
  await waitUntilServed(world.url);
  return world;
}

const missing =
  missingNginxReason ??
  missingCaddyReason ??
  (binaries === undefined ? 'no PostgreSQL of Debian with pg_dump in /usr/lib/postgresql' : undefined);

describeUnless(missing, 'a team that follows docs/team.md', () => {
  test.each([
    ['nginx', serveNginx],
    ['Caddy', serveCaddy],
  ])('serves two agents and a person over TLS behind %s, and restarts a machine', async (_name, serve) => {
    const { env, apis, url } = await startBehind(serve);
    const checked = await runCli({}, ['doctor', '--public', url]);
    expect([checked.code, checked.err], checked.out).toEqual([0, '']);

    const token = await createAgents(env);
    const bob = await connectWebSocket(`${url.replace('https', 'wss')}/ws`, { token: token.bob });
    const send = (body: object) => requestRest('POST', `${url}/v1/threads`, { token: token.ann, body });
    const sent = await send({ with_handle: 'bob.reader', initial_message: 'Hello' });
    expect(sent.status, sent.text).toBe(201);
    await vi.waitFor(() => expect(JSON.stringify(bob.events())).toContain('Hello'), 30_000);
    await sendFiveFiles(env, url);

    // The other machine answers while one restarts.
    await apis[0].terminate();
    expect((await send({ with_handle: 'bob.reader', initial_message: 'Again' })).status).toBe(201);
  });

  test('restores its backup, and keeps secrets out of the logs', async () => {
    const world = await startBehind(serveNginx);
    const { postgres, env, data, url } = world;
    const token = await createAgents(env);
    const body = { with_handle: 'bob.reader', initial_message: 'Hello' };
    expect((await requestRest('POST', `${url}/v1/threads`, { token: token.ann, body })).status).toBe(201);
    expect((await requestRest('GET', `${url}/v1/threads?limit=1`, { token: token.ann })).status).toBe(200);
    await restoreBackup(postgres.url, data);
    const log = readFileSync(join(data, 'access.log'), 'utf8');
    expect(log).toContain('/v1/threads');
    expect(log).not.toMatch(/\?/);

    // Errors of both proxies name the request.
    const port = await findFreePort();
    const caddyLog = join(data, 'caddy.log');
    await serveCaddy(world, port, [['log {', `log {\n output file ${caddyLog}`]]);
    await waitUntilServed(`https://localhost:${port}`);
    await Promise.all(world.apis.map((api) => api.terminate()));
    for (const address of [url, `https://localhost:${port}`])
      expect((await requestRest('GET', `${address}/blobs/x?signature=hidden`, {})).status).toBeOneOf([
        502, 503,
      ]);
    await vi.waitFor(() => expect(readFileSync(caddyLog, 'utf8')).toContain('/blobs/x'));
    for (const file of ['access.log', 'error.log', 'caddy.log'])
      expect(readFileSync(join(data, file), 'utf8')).not.toContain('hidden');
  });

  test('reports a wrong proxy', async () => {
    const world = await startBehind(serveNginx);
    const badPort = await findFreePort();
    await serveNginx(world, badPort, [
      ['client_max_body_size 52m', 'client_max_body_size 1m'],
      ['proxy_set_header Upgrade $http_upgrade', 'proxy_set_header Upgrade ""'],
      ['proxy_set_header Host $http_host', 'proxy_set_header Host other.example'],
    ]);
    const bad = `https://localhost:${badPort}`;
    await waitUntilServed(bad);
    const found = await runCli({}, ['doctor', '--public', bad]);
    expect(found.code).toBe(1);
    expect(found.err).toContain('checks failed: host, websocket, bodies, issuer\n');
    // The configuration to copy, for this host.
    expect(found.out).toContain('server_name localhost;');
  });
});

/** A person who was invited writes to an agent, with the largest files that a message can have. */
async function sendFiveFiles(env: Record<string, string>, url: string): Promise<void> {
  const { code } = JSON.parse((await runCli(env, ['invitation', 'create', '--json'])).out);
  const browser = openFormBrowser(url);
  const password = 'a quiet word in passing';
  const signedUp = await browser.fill('/sign-up', {
    fields: { invitation: code, username: 'cleo', password },
  });
  expect(signedUp.url, signedUp.visibleText).toMatch(/\/console/);
  const agent = { name: 'desk', display_name: 'Desk' };
  const created = await browser.fill('/console/agents/new', { fields: agent, button: 'create' });
  expect(created.visibleText).toContain('Created @cleo.desk');
  const files = Array.from(
    { length: 5 },
    (_, number) => new File([randomBytes(10 * 1_024 * 1_024)], `file-${number}.bin`),
  );
  const fields = { handle: 'bob.reader', content: 'Five files' };
  const conversation = await browser.fill('/console/conversations/new', { fields, files });
  expect([conversation.status, conversation.visibleText]).toEqual([
    200,
    expect.stringContaining('file-4.bin'),
  ]);
}

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
  expect(restored.stdout.trim()).toBe('1');
}

const hasSystemd = findProgram(['systemd-analyze']) !== null;

describeUnless(hasSystemd ? undefined : 'no systemd-analyze', 'systemd', () => {
  test('accepts the units', async () => {
    const folder = await createFolder();
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
  });
});
