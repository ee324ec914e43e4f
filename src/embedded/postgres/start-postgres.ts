import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Account, runAs } from './account.ts';
import { LauncherError } from '../launcher-error.ts';
import { choosePort, savePort } from '../ports.ts';
import { prepareFolder, findReason, role } from './data-folder.ts';
import { createDataDir, chooseLocation } from './location.ts';
import { readIfExists } from '../private-file.ts';
import { type ServerProcess, type ServerProgram, startServerProcess } from '../processes/server-process.ts';
import { endProcess, inspectProcess } from '../processes/identity.ts';
import { stopLeftover } from '../processes/run-record.ts';
import { loadSecrets } from '../secrets.ts';
import { waitUntil } from '../../shared/wait-until.ts';

export interface PostgresOptions {
  /** The folder that holds `postgres/`, `secrets.json` and `postgres.log`. Created when missing. For one launcher at a time. */
  dataDir: string;
  /** Default: the previous port if it is free, else any free one. */
  port?: number;
  /** For tests: faster, but a power failure can lose data. */
  throwaway?: boolean;
  /** More server settings, for example `{ max_connections: '400' }`. */
  settings?: Record<string, string>;
  /** Added to the environment of the server. */
  env?: Record<string, string> | undefined;
  /** Before an immediate shutdown, after which the next start runs a recovery (5,000). */
  stopTimeoutMs?: number;
  signal?: AbortSignal;
}

export interface RunningPostgres extends ServerProcess {
  /** With user and password. The user is a superuser. */
  url: string;
  port: number;
  version: string;
  folder: string;
  /** One line for a person when the location is unusual. */
  note: string | null;
}

const serverSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '512MB',
  max_connections: '200',
  wal_compression: 'on',
  max_wal_size: '2GB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
};
const throwawaySettings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/**
 * Starts an embedded PostgreSQL on loopback, with a generated password, and waits until it is ready. The first start creates the data folder. Stops
 * the server that an earlier, killed launcher left on this folder.
 * @throws {LauncherError} one line: no binaries for this platform, another major version, port not available, no permission.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const dataDir = createDataDir(options.dataDir);
  const { folder, account, binaries, note } = chooseLocation(dataDir);
  await stopOrphan(dataDir, folder, account);
  const { postgres_password: password } = loadSecrets(dataDir);
  const throwaway = options.throwaway ?? false;
  await prepareFolder({ folder, account, binaries, password, throwaway });

  const log = join(dataDir, 'postgres.log');
  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort(dataDir, 'postgres', options.port);
    const args = serverArguments(folder, {
      ...serverSettings,
      ...(throwaway ? throwawaySettings : {}),
      ...options.settings,
      port: String(port),
    });
    let logged = 0;
    const program: ServerProgram = {
      name: 'postgres',
      dataDir,
      spawn: () => {
        const out = openSync(log, 'a', 0o600);
        logged = statSync(log).size;
        const child = spawn(join(binaries.native, 'bin', 'postgres'), args, {
          ...runAs(account),
          cwd: '/',
          env: { LC_ALL: 'C', TZ: 'UTC', ...options.env },
          detached: true, // only the launcher receives Ctrl-C
          stdio: ['ignore', out, out],
        });
        closeSync(out);
        return child;
      },
      ready: (child, signal) => waitUntilReady(folder, child, signal),
      explain: () => findReason(readFileSync(log).subarray(logged).toString()),
      readyTimeoutMs: 60_000, // after a crash it can replay its log first
      stopTimeoutMs: options.stopTimeoutMs ?? 5000,
      drainSignal: 'SIGTERM', // smart shutdown: sessions that are closing would report an error
      stopSignal: 'SIGINT', // fast shutdown: ends sessions, writes everything
      killSignal: 'SIGQUIT', // immediate shutdown: the next start runs a recovery
    };
    try {
      const server = await startServerProcess(program, options.signal);
      savePort(dataDir, 'postgres', port);
      const url = `postgres://${role}:${encodeURIComponent(password)}@127.0.0.1:${port}/${role}`;
      return { url, port, version: binaries.version, folder, note, ...server };
    } catch (error) {
      if (attempt === 5 || !isRetryable(error, options.port)) throw error;
    }
  }
}

function serverArguments(folder: string, values: Record<string, string>): string[] {
  return ['-D', folder, ...Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** Another process took the free port, or processes of a crashed server have not ended yet. */
function isRetryable(error: unknown, requestedPort: number | undefined): boolean {
  if (!(error instanceof LauncherError)) return false;
  if (/pre-existing shared memory/.test(error.message)) return true;
  return requestedPort === undefined && /could not create any TCP/.test(error.message);
}

/** The server writes its state to the eighth line of postmaster.pid; pg_ctl waits for the same state. */
async function waitUntilReady(folder: string, child: ChildProcess, signal: AbortSignal): Promise<void> {
  const isReady = () => {
    const lines = readIfExists(join(folder, 'postmaster.pid'))?.split('\n') ?? [];
    return Number(lines[0]) === child.pid && lines[7]?.trim() === 'ready';
  };
  await waitUntil(isReady, { signal });
}

/** Stops the server of an earlier launcher. A pid file whose pid now belongs to another program is removed. */
async function stopOrphan(dataDir: string, folder: string, account: Account | null): Promise<void> {
  await stopLeftover(dataDir, 'postgres', { stopSignal: 'SIGINT', killSignal: 'SIGQUIT' });
  const pidFile = join(folder, 'postmaster.pid');
  const facts = inspectProcess(Number(readIfExists(pidFile)?.split('\n')[0] ?? 0));
  if (facts === null) return; // no process; the server detects a stale file itself
  const isOurs =
    facts.uid === (account?.uid ?? process.getuid?.()) &&
    /postgres /.test(facts.command) &&
    `${facts.command} `.includes(` -D ${folder} `);
  if (!isOurs) return rmSync(pidFile, { force: true });
  if (!(await endProcess(facts, { stopSignal: 'SIGINT', killSignal: 'SIGQUIT', timeoutMs: 10_000 }))) {
    throw new LauncherError(`postgres: process ${facts.pid} of an earlier start does not end; kill it`);
  }
}
