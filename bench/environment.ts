import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../src/embedded/ports.ts';
import { startPostgres } from '../src/embedded/postgres/start-postgres.ts';
import { findRedisServer, startRedis } from '../src/embedded/redis.ts';
import { migrateForward } from '../src/platform/database/migrations.ts';
import { recycledWalSettings, recycleWal } from './recycled-wal.ts';
import { withTimeout } from './with-timeout.ts';

export type Backend = 'redis' | 'postgres';

export interface EnvironmentOptions {
  backend: Backend;
  /** A Redis or Valkey program that is not on PATH. */
  redis_server: string | undefined;
  /** As in the setting RATE_LIMITS. */
  rate_limits: string;
  /** A folder for CPU profiles of API and worker. */
  profile: string | undefined;
  /** Node options of the API process. */
  api_arguments?: readonly string[];
  signal: AbortSignal;
  /** Called when the API or the worker exits before `stop`. */
  fail: (reason: Error) => void;
}

export interface Environment {
  /** Settings of a process of this installation. */
  env: Record<string, string>;
  base: string;
  /** Process ids by part, to read their CPU time. */
  pids: { api: number; worker: number };
  postgres_folder: string;
  postgres_version: string;
  redis_server: string | null;
  /** Stops everything and removes its data. */
  stop(): Promise<void>;
}

/** Whether the benchmark can run on Redis here. */
export function hasRedis(redisServer: string | undefined): boolean {
  return (redisServer ?? findRedisServer()) !== null;
}

const timeoutMs = 60_000;

const resolveEntry = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** The entry points of the API and the worker. */
export const programs = { api: resolveEntry('../src/main.js'), worker: resolveEntry('../workers/main.js') };

/**
 * Starts the service to measure: PostgreSQL with fsync, Redis with its append-only file, one API process and one worker process,
 * with a temporary data folder. Stops everything when the start fails or the signal aborts.
 */
export async function startEnvironment(options: EnvironmentOptions): Promise<Environment> {
  const { backend, signal } = options;
  const folder = await mkdtemp(join(tmpdir(), 'ams-bench-'));
  const cleanups: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true })];
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= stopAll(cleanups);
    return stopped;
  };
  try {
    const starting = startPostgres({
      dataDir: folder,
      settings: recycledWalSettings,
      signal,
    });
    const postgres = await withTimeout('PostgreSQL to start', timeoutMs, starting, signal);
    cleanups.push(postgres.stop);
    await withTimeout('the write-ahead log', timeoutMs, recycleWal(postgres.url), signal);
    const redis =
      backend === 'redis'
        ? await startRedis({
            dataDir: folder,
            signal,
            ...(options.redis_server !== undefined && { serverPath: options.redis_server }),
          })
        : null;
    if (redis) cleanups.push(redis.stop);
    await withTimeout('the migrations', timeoutMs, migrateForward(postgres.url), signal);
    const port = await findFreePort();
    const base = `http://127.0.0.1:${port}`;
    const env = {
      DATABASE_URL: postgres.url,
      SECRET_KEY: randomBytes(32).toString('base64'),
      HOST: '127.0.0.1',
      PORT: String(port),
      PUBLIC_URL: base,
      DATA_DIR: folder,
      LOG_LEVEL: 'warn',
      RATE_LIMITS: options.rate_limits,
      UPLOADS_PER_AGENT: '20',
      DRAIN_SECONDS: '0',
      NODE_ENV: 'production',
      ...(redis && { REDIS_URL: redis.url }),
      ...blobStoreEnv(process.env),
    };
    const children = {
      env,
      profile: options.profile,
      signal,
      fail: (reason: Error) => stopped ?? options.fail(reason),
    };
    const { api_arguments = [] } = options;
    const api = await startChild(programs.api, { ...children, node_arguments: api_arguments });
    cleanups.push(() => stopChild(api));
    const worker = await startChild(programs.worker, children);
    cleanups.push(() => stopChild(worker));
    signal.throwIfAborted();
    return {
      env,
      base,
      pids: { api: api.pid ?? 0, worker: worker.pid ?? 0 },
      postgres_folder: postgres.folder,
      postgres_version: postgres.version,
      redis_server: redis?.serverPath ?? null,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The settings of the blob store from the environment. */
function blobStoreEnv(environment: NodeJS.ProcessEnv): Record<string, string> {
  const own = Object.entries(environment).filter(([name]) => name.startsWith('S3_'));
  return Object.fromEntries(own.map(([name, value = '']) => [name, value]));
}

/** Stops in reverse order of the start. A failure does not prevent the other parts from stopping. */
async function stopAll(cleanups: (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const cleanup of cleanups.toReversed()) {
    await withTimeout('a part to stop', timeoutMs, cleanup()).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

export interface ChildOptions {
  env: Record<string, string>;
  /** A folder for its CPU profile. */
  profile?: string | undefined;
  node_arguments?: readonly string[];
  signal: AbortSignal;
  fail: (reason: Error) => void;
  /** Called with the message that reports readiness. */
  onMessage?: (message: unknown) => void;
}

/** Starts a program of this project; resolves when it reports that it is ready. */
export async function startChild(program: string, options: ChildOptions): Promise<ChildProcess> {
  options.signal.throwIfAborted();
  const { profile, node_arguments = [] } = options;
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const execArgv = [...node_arguments, ...profiling];
  const child = fork(program, [], {
    env: { PATH: process.env['PATH'] ?? '', ...options.env },
    execArgv,
    detached: true, // Ctrl-C in the terminal reaches only the benchmark, which stops the parts in order
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  child.once('exit', (code, signal) =>
    options.fail(new Error(`${program} ended (${signal ?? String(code)})`)),
  );
  try {
    const ready = withTimeout(`${program} to be ready`, timeoutMs, once(child, 'message'), options.signal);
    const [message] = (await ready) as unknown[];
    options.onMessage?.(message);
    return child;
  } catch (error) {
    await stopChild(child);
    throw error;
  }
}

/** Sends SIGTERM, and SIGKILL after 15 seconds. */
export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await exited;
  clearTimeout(timer);
}
