import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { findFreePort } from '../../../src/embedded/ports.ts';
import { ofService, readCpuTime } from '../../load/cpu-time.ts';
import { mapConcurrently } from '../../load/run-load.ts';
import { waitForStableMemory } from '../../start/resident-memory.ts';
import { startRestartable } from '../../start/restartable.ts';
import { type Bench, createFolder, startMeasuredPostgres } from '../../start/service.ts';
import type { ClientParts, Connect, Peer, PeerKind } from '../peer.ts';
import { buildConfiguration, domain } from './configuration.ts';
import { findInstallation, type Installation, installCommand } from './installation.ts';
import { openXmppConnection, passwordOf, userName } from './xmpp.ts';

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
  openClient: openEjabberdClient,
};

/** Starts ejabberd and a PostgreSQL of its own in a temporary folder, and registers so many agents. */
async function startEjabberd(bench: Bench, installation: Installation, agents: number): Promise<Peer> {
  const { log, signal, onEnd } = bench;
  const folder = await createFolder(bench);
  const postgres = await startMeasuredPostgres(bench, folder);
  const database = new pg.Pool({ connectionString: postgres.url, max: 1 });
  database.on('error', () => undefined); // the server was killed
  onEnd(() => database.end());
  await database.query(await readFile(installation.schema, 'utf8'));
  const port = await findFreePort();
  const base = `http://127.0.0.1:${port}`;
  const configuration = buildConfiguration({ port, database_url: postgres.url });
  await writeFile(join(folder, 'ejabberd.yml'), configuration, { mode: 0o600 });
  const isReady = async () => {
    const { ok, status } = await callApi(base, 'status');
    if (!ok) throw new Error(`ejabberd answered ${status}`);
  };
  const server = await startRestartable(
    bench,
    'ejabberd',
    () => spawnEjabberd(installation, folder),
    isReady,
  );
  log(`ejabberd ${installation.version} is ready; registering ${agents} agents`);
  const numbers = Array.from({ length: agents }, (_, agent) => agent);
  await mapConcurrently(numbers, lanes, signal, (agent) => registerAgent(base, agent));
  return {
    name: ejabberd.name,
    address: base,
    connect: openEjabberdClient(base, bench),
    waitUntilIdle: () => Promise.resolve(),
    async countStored(first, last) {
      // The archive of each agent has a row.
      const text = `select count(distinct number)::int as rows from (select substring(txt from '^#([0-9]+)')::int as number from archive) a
        where number between $1 and $2`;
      const { rows } = await database.query<{ rows: number }>(text, [first, last]);
      return rows[0]?.rows ?? 0;
    },
    readCpuMs() {
      const time = readCpuTime({ pids: { api: [server.pid], worker: [] }, postgres_folder: postgres.folder });
      return time && ofService(time);
    },
    readMemory: () =>
      waitForStableMemory(server.pid, signal, async () => {
        await (await callApi(base, 'gc')).text();
      }),
    crash: {
      kill9: async () => void (await Promise.all([server.kill9(), postgres.kill9()])),
      async restart() {
        await postgres.restart();
        await server.restart();
      },
      async readAll(receiver) {
        const text = `select substring(txt from '^#([0-9]+)')::int as number from archive where username = $1 and txt like '#%'
          order by timestamp`;
        const { rows } = await database.query<{ number: number }>(text, [userName(receiver)]);
        return rows.map(({ number }) => number);
      },
    },
  };
}

function openEjabberdClient(base: string, parts: ClientParts): Connect {
  let rooms = 0;
  return (agent, role, onMessage) => {
    if (role === 'member' && agent === 0) rooms += 1;
    const room = `room${rooms}`;
    return retry(`agent ${agent}`, parts, () =>
      openXmppConnection({ base, agent, role, room, onMessage, onLost: parts.fail }),
    );
  };
}

/** Attempts a sign-in. */
async function retry<T>(who: string, { log, signal }: ClientParts, open: () => Promise<T>): Promise<T> {
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

async function registerAgent(base: string, agent: number): Promise<void> {
  const body = { user: userName(agent), host: domain, password: passwordOf(agent) };
  const response = await callApi(base, 'register', body);
  const text = await response.text();
  if (!response.ok) throw new Error(`ejabberd did not register an agent: ${text.slice(0, 300)}`);
}
