import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { findFreePort } from '../../../src/embedded/ports.ts';
import { startPostgres } from '../../../src/embedded/postgres/start-postgres.ts';
import { waitUntil } from '../../../src/shared/wait-until.ts';
import { ofService } from '../../cost.ts';
import { readCpuTime } from '../../cpu-time.ts';
import { stopChild } from '../../environment.ts';
import { recycledWalSettings, recycleWal } from '../../recycled-wal.ts';
import { waitForStableMemory } from '../../streams/resident-memory.ts';
import { withTimeout } from '../../with-timeout.ts';
import type { Peer, PeerParts } from '../peer.ts';
import { buildConfiguration, domain } from './configuration.ts';
import type { Installation } from './installation.ts';
import { openXmppConnection, passwordOf, userName } from './xmpp.ts';

export interface EjabberdOptions extends PeerParts {
  installation: Installation;
  /** Agents to register. */
  agents: number;
}

const timeoutMs = 60_000;
/** Concurrent registrations. */
const lanes = 16;

/** Starts ejabberd and a PostgreSQL of its own in a temporary folder, and registers the agents. */
export async function startEjabberd(
  options: EjabberdOptions,
): Promise<{ peer: Peer; stop(): Promise<void> }> {
  const { installation, agents, log, signal, fail } = options;
  const cleanups: (() => Promise<unknown>)[] = [];
  let isStopping = false;
  const stop = async () => {
    isStopping = true;
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), 'ams-bench-ejabberd-'));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    const postgres = await startPostgres({
      dataDir: folder,
      settings: recycledWalSettings,
      signal,
    });
    cleanups.push(postgres.stop);
    await recycleWal(postgres.url);
    const database = new pg.Client({ connectionString: postgres.url });
    await database.connect();
    cleanups.push(() => database.end());
    await database.query(await readFile(installation.schema, 'utf8'));
    const port = await findFreePort();
    const configuration = buildConfiguration({ port, database_url: postgres.url });
    await writeFile(join(folder, 'ejabberd.yml'), configuration, { mode: 0o600 });
    const child = spawnEjabberd(installation, folder);
    cleanups.push(() => stopChild(child));
    child.once('exit', () => isStopping || fail(new Error('ejabberd ended')));
    const base = `http://127.0.0.1:${port}`;
    await waitForApi(base, child, folder, signal);
    log(`ejabberd ${installation.version} is ready; registering ${agents} agents`);
    await registerAgents(base, agents);
    const pid = child.pid ?? 0;
    const peer = createEjabberdPeer({ base, pid, postgres_folder: postgres.folder }, database, options);
    return { peer, stop };
  } catch (error) {
    await stop();
    throw error;
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

async function registerAgents(base: string, agents: number): Promise<void> {
  let next = 0;
  async function lane(): Promise<void> {
    while (next < agents) {
      const agent = next;
      next += 1;
      const body = { user: userName(agent), host: domain, password: passwordOf(agent) };
      const response = await callApi(base, 'register', body);
      const text = await response.text();
      if (!response.ok) throw new Error(`ejabberd did not register an agent: ${text.slice(0, 300)}`);
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane));
}

interface Processes {
  base: string;
  pid: number;
  postgres_folder: string;
}

function createEjabberdPeer(
  { base, pid, postgres_folder }: Processes,
  database: pg.Client,
  { signal, fail }: PeerParts,
): Peer {
  let rooms = 0;
  return {
    name: 'ejabberd',
    connect(agent, role, listener) {
      if (role === 'member' && agent === 0) rooms += 1;
      const opening = openXmppConnection({
        base,
        agent,
        role,
        room: `room${rooms}`,
        listener,
        onLost: fail,
      });
      return withTimeout(`ejabberd to accept agent ${agent}`, timeoutMs, opening, signal);
    },
    async countStored(first, last) {
      // The archive of each agent has a row.
      const text = `select count(distinct number)::int as rows from (select substring(txt from '^#([0-9]+)')::int as number from archive) a
        where number between $1 and $2`;
      const { rows } = await database.query<{ rows: number }>(text, [first, last]);
      return rows[0]?.rows ?? 0;
    },
    readCpuMs() {
      const time = readCpuTime({ pids: { api: pid, worker: 0 }, postgres_folder });
      return time && ofService(time);
    },
    readMemory: () =>
      waitForStableMemory(pid, signal, async () => {
        const response = await callApi(base, 'gc');
        await response.text();
      }),
  };
}
