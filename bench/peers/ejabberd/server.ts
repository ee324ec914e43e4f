import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { findFreePort } from '../../../src/embedded/ports.ts';
import { waitUntil } from '../../../src/shared/wait-until.ts';
import { ofService, readCpuTime } from '../../load/cpu-time.ts';
import { mapConcurrently } from '../../load/run-load.ts';
import { waitForStableMemory } from '../../start/resident-memory.ts';
import { type Bench, createFolder, startMeasuredPostgres, watchProcess } from '../../start/service.ts';
import type { Peer, PeerKind } from '../peer.ts';
import { buildConfiguration, domain } from './configuration.ts';
import { findInstallation, type Installation, installCommand } from './installation.ts';
import { openXmppConnection, passwordOf, userName } from './xmpp.ts';

const timeoutMs = 60_000;
/** Attempts to sign an agent in. */
const attempts = 3;
/** Concurrent registrations. */
const lanes = 16;

export const ejabberd: PeerKind = {
  name: 'ejabberd',
  findMissing: () => (findInstallation() ? null : installCommand),
  async start(bench, { pairs, members, idle }) {
    const installation = findInstallation();
    return installation ? [await startEjabberd(bench, installation, Math.max(2 * pairs, members, idle))] : [];
  },
};

/** Starts ejabberd and a PostgreSQL of its own in a temporary folder, and registers so many agents. */
export async function startEjabberd(bench: Bench, installation: Installation, agents: number): Promise<Peer> {
  const { log, signal, fail, onEnd } = bench;
  const folder = await createFolder(bench);
  const postgres = await startMeasuredPostgres(bench, folder);
  const database = new pg.Client({ connectionString: postgres.url });
  await database.connect();
  onEnd(() => database.end());
  await database.query(await readFile(installation.schema, 'utf8'));
  const port = await findFreePort();
  const base = `http://127.0.0.1:${port}`;
  const configuration = buildConfiguration({ port, database_url: postgres.url });
  await writeFile(join(folder, 'ejabberd.yml'), configuration, { mode: 0o600 });
  const child = spawnEjabberd(installation, folder);
  watchProcess(bench, 'ejabberd', child);
  await waitForApi(base, child, folder, signal);
  log(`ejabberd ${installation.version} is ready; registering ${agents} agents`);
  const numbers = Array.from({ length: agents }, (_, agent) => agent);
  await mapConcurrently(numbers, lanes, signal, (agent) => registerAgent(base, agent));
  const pid = child.pid ?? 0;
  let rooms = 0;
  return {
    name: ejabberd.name,
    connect(agent, role, onMessage) {
      if (role === 'member' && agent === 0) rooms += 1;
      const room = `room${rooms}`;
      return retry(`agent ${agent}`, bench, () =>
        openXmppConnection({ base, agent, role, room, onMessage, onLost: fail }),
      );
    },
    waitUntilIdle: () => Promise.resolve(),
    async countStored(first, last) {
      // The archive of each agent has a row.
      const text = `select count(distinct number)::int as rows from (select substring(txt from '^#([0-9]+)')::int as number from archive) a
        where number between $1 and $2`;
      const { rows } = await database.query<{ rows: number }>(text, [first, last]);
      return rows[0]?.rows ?? 0;
    },
    readCpuMs() {
      const time = readCpuTime({ pids: { api: [pid], worker: [] }, postgres_folder: postgres.folder });
      return time && ofService(time);
    },
    readMemory: () =>
      waitForStableMemory(pid, signal, async () => {
        await (await callApi(base, 'gc')).text();
      }),
  };
}

/** Attempts a sign-in. */
async function retry<T>(who: string, { log, signal }: Bench, open: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await open();
    } catch (error) {
      signal.throwIfAborted();
      const reason = `ejabberd did not sign in ${who}, attempt ${attempt} of ${attempts}: ${String(error)}`;
      if (attempt === attempts) throw new Error(reason, { cause: error });
      log(reason);
    }
  }
}

/** Without distribution, so that no other Erlang program is started or reached. */
function spawnEjabberd({ erl, libraries }: Installation, folder: string): ChildProcess {
  const out = openSync(join(folder, 'ejabberd.out'), 'a', 0o600);
  const tables = ['-mnesia', 'dir', `"${join(folder, 'mnesia')}"`];
  const child = spawn(erl, ['-noinput', '+K', 'true', '+Q', '65536', ...tables, '-s', 'ejabberd'], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      ERL_LIBS: libraries,
      EJABBERD_CONFIG_PATH: join(folder, 'ejabberd.yml'),
      EJABBERD_LOG_PATH: join(folder, 'ejabberd.log'),
    },
    detached: true, // Ctrl-C in the terminal reaches only the benchmark
    stdio: ['ignore', out, out],
  });
  closeSync(out);
  return child;
}

async function callApi(base: string, command: string, body: object = {}): Promise<Response> {
  return fetch(`${base}/api/${command}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function waitForApi(
  base: string,
  child: ChildProcess,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const isUp = () =>
    callApi(base, 'status').then(
      ({ ok }) => ok,
      () => child.exitCode !== null,
    );
  const isReady = await waitUntil(isUp, { timeoutMs, intervalMs: 100, signal });
  if (isReady && child.exitCode === null) return;
  const output = await readFile(join(folder, 'ejabberd.out'), 'utf8');
  throw new Error(`ejabberd did not start: ${output.slice(-1_000)}`);
}

async function registerAgent(base: string, agent: number): Promise<void> {
  const body = { user: userName(agent), host: domain, password: passwordOf(agent) };
  const response = await callApi(base, 'register', body);
  const text = await response.text();
  if (!response.ok) throw new Error(`ejabberd did not register an agent: ${text.slice(0, 300)}`);
}
