import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { compose, type Core } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { findFreePort } from '../../src/embedded/ports.ts';
import { type RunningPostgres, startPostgres } from '../../src/embedded/postgres/start-postgres.ts';
import type { RunningRedis } from '../../src/embedded/redis.ts';
import { type Database, openDatabase } from '../../src/platform/database/database.ts';
import { migrateForward } from '../../src/platform/database/migrations.ts';
import { createGuardedFolder } from '../../scripts/parts/cleanup-guard.ts';
import {
  type Restartable,
  startInstalledRedis,
  startRestartable,
} from '../../scripts/parts/restartable-server.ts';
import type { ServiceProcesses } from '../load/cpu-time.ts';
import type { Options } from '../options.ts';
import { recycledWalSettings, recycleWal } from './recycled-wal.ts';
import { withTimeout } from './with-timeout.ts';

/** What every measurement gets. */
export interface Bench {
  options: Options;
  log: (line: string) => unknown;
  signal: AbortSignal;
  /** Ends the run when something fails outside of its calls. */
  fail: (reason: Error) => void;
  /** Adds something to stop or remove at the end of the measurement, in reverse order. */
  onEnd(cleanup: () => unknown): void;
}

/** An installation of the service, and access to its database and queues. */
export interface Service extends ServiceProcesses {
  /** Settings of a process of this installation. */
  env: Record<string, string>;
  base: string;
  pid: number;
  redis_pid: number | null;
  core: Core;
  database: Database;
  /** Ends all its processes, with PostgreSQL and Redis, with SIGKILL. */
  kill9(): Promise<void>;
  /** Starts them again with the same data and address. */
  restart(): Promise<void>;
}

const timeoutMs = 60_000;
const resolveEntry = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const programs = { api: resolveEntry('../../src/main.js'), worker: resolveEntry('../../workers/main.js') };

/** Runs a measurement, then stops what it started. A failure does not prevent the other parts from stopping. */
export async function runMeasurement<T>(
  parts: Omit<Bench, 'onEnd'>,
  measure: (bench: Bench) => Promise<T>,
): Promise<T> {
  const cleanups: (() => unknown)[] = [];
  try {
    return await measure({ ...parts, onEnd: (cleanup) => void cleanups.push(cleanup) });
  } finally {
    for (const cleanup of cleanups.toReversed()) {
      const stopping = withTimeout('a part to stop', timeoutMs, (async () => cleanup())());
      await stopping.catch((error: unknown) => parts.log(String(error)));
    }
  }
}

/** Redis does not run with libfaketime. It only counts times down, and compares those that it is told. */
const realClock = { ...process.env, LD_PRELOAD: undefined };

/** Starts a PostgreSQL with fsync and a used write-ahead log. */
export async function startMeasuredPostgres(
  bench: Bench,
  dataDir: string,
  env?: Record<string, string>,
): Promise<RunningPostgres & Restartable> {
  const { signal } = bench;
  const start = (port: { port?: number }) =>
    startPostgres({ dataDir, settings: recycledWalSettings, signal, env, ...port });
  const postgres = await startRestartable(start, bench);
  await withTimeout('the write-ahead log', timeoutMs, recycleWal(postgres.url), signal);
  return postgres;
}

/** Creates a folder that is removed at the end, also after a kill. */
export async function createFolder({ onEnd }: Bench): Promise<string> {
  const { folder, remove } = await createGuardedFolder('ams-bench-');
  onEnd(remove);
  return folder;
}

/**
 * Starts the service to measure: PostgreSQL with fsync, Redis with its append-only file, one API process and one worker process,
 * with a temporary data folder.
 * @param parts `nodeArguments`: Node options of both processes. `settings`: further settings of both. `postgresEnv`: added to the environment of PostgreSQL
 */
export async function startService(
  bench: Bench,
  {
    nodeArguments = [],
    settings = {},
    postgresEnv,
  }: {
    nodeArguments?: readonly string[];
    settings?: Record<string, string>;
    postgresEnv?: Record<string, string>;
  } = {},
): Promise<Service> {
  const { options, log, signal, onEnd } = bench;
  const { rate_limits } = options;
  const dataDir = await createFolder(bench);
  const postgres = await startMeasuredPostgres(bench, dataDir, postgresEnv);
  const redis = await startQueueServer(bench, dataDir);
  await withTimeout('the migrations', timeoutMs, migrateForward(postgres.url), signal);
  const port = await findFreePort();
  const base = `http://127.0.0.1:${port}`;
  const env = {
    DATABASE_URL: postgres.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    HOST: '127.0.0.1',
    PORT: String(port),
    PUBLIC_URL: base,
    DATA_DIR: dataDir,
    LOG_LEVEL: 'warn',
    RATE_LIMITS: rate_limits,
    UPLOADS_PER_AGENT: '20',
    DRAIN_SECONDS: '0',
    NODE_ENV: 'production',
    ...(redis && { REDIS_URL: redis.url }),
    ...settings,
  } as Record<string, string>;
  let processes = await startProcesses(bench, env, nodeArguments);
  const { api, worker } = processes;
  log(`PostgreSQL ${postgres.version}, ${redis?.serverPath ?? 'no Redis'}, ${cpus().length} processors`);
  const config = loadConfig({ ...env, LOG_LEVEL: 'silent' });
  const core = compose(config, 'bench');
  onEnd(core.close);
  const database = openDatabase({
    url: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    onError: () => undefined,
  });
  onEnd(() => database.close());
  return {
    env,
    base,
    pid: api.pid,
    redis_pid: redis?.pid ?? null,
    pids: { api: [api.pid], worker: [worker.pid] },
    postgres_folder: postgres.folder,
    core,
    database,
    async kill9() {
      const all = [processes.api, processes.worker, postgres, ...(redis ? [redis] : [])];
      await Promise.all(all.map((part) => part.kill9()));
    },
    async restart() {
      await postgres.restart();
      await redis?.restart();
      processes = await startProcesses(bench, env, nodeArguments);
    },
  };
}

/** Null for the backend that has no Redis. */
async function startQueueServer(bench: Bench, dataDir: string): Promise<(RunningRedis & Restartable) | null> {
  if (bench.options.backend !== 'redis') return null;
  const start = (port: { port?: number }) =>
    startInstalledRedis({ dataDir, signal: bench.signal, env: realClock, ...port });
  return startRestartable(start, bench);
}

/** Adds another API and another worker process to an installation. */
export async function addProcesses(
  bench: Bench,
  { env, pids }: Service,
): Promise<ServiceProcesses['pids'] & { base: string }> {
  const port = await findFreePort();
  const { api, worker } = await startProcesses(bench, { ...env, PORT: String(port) });
  const base = `http://127.0.0.1:${port}`;
  return { base, api: [...pids.api, api.pid], worker: [...pids.worker, worker.pid] };
}

async function startProcesses(
  bench: Bench,
  env: Record<string, string>,
  nodeArguments: readonly string[] = [],
): Promise<{ api: StartedProgram; worker: StartedProgram }> {
  const { profile } = bench.options;
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const execArgv = [...nodeArguments, ...profiling];
  const api = await startProgram(bench, programs.api, { env, execArgv });
  const worker = await startProgram(bench, programs.worker, { env, execArgv });
  return { api, worker };
}

interface StartedProgram {
  pid: number;
  message: unknown;
  /** Ends it with SIGKILL. */
  kill9(): Promise<void>;
}

/** Starts a program of this project; resolves with its message that it is ready. */
export async function startProgram(
  bench: Bench,
  program: string,
  { env, execArgv }: { env: Record<string, string>; execArgv: readonly string[] },
): Promise<StartedProgram> {
  const { signal } = bench;
  signal.throwIfAborted();
  const child = fork(program, [], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    execArgv: [...execArgv],
    detached: true, // Ctrl-C in the terminal reaches only the benchmark, which stops the parts in order
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  const kill9 = watchProcess(bench, program, child);
  const ready = withTimeout(`${program} to be ready`, timeoutMs, once(child, 'message'), signal);
  const [message] = (await ready) as unknown[];
  return { pid: child.pid ?? 0, message, kill9 };
}

/** Stops a process at the end of the measurement; until then its exit is a failure. @returns a function that ends it with SIGKILL */
export function watchProcess({ fail, onEnd }: Bench, name: string, child: ChildProcess): () => Promise<void> {
  const onExit = (code: number | null, signal: string | null) =>
    fail(new Error(`${name} ended (${signal ?? String(code)})`));
  child.once('exit', onExit);
  child.once('error', fail);
  onEnd(async () => {
    child.off('exit', onExit);
    await stopChild(child);
  });
  return async () => {
    child.off('exit', onExit);
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
}

/** Sends SIGTERM, and SIGKILL after 15 seconds. */
async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await exited;
  clearTimeout(timer);
}
