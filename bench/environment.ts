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
  /** What Node is told when it starts the API. */
  api_arguments?: readonly string[];
  signal: AbortSignal;
  /** Called when API or worker end before they are told to. */
  fail: (reason: Error) => void;
}

export interface Environment {
  /** Settings of a process of this installation. */
  env: Record<string, string>;
  base: string;
  /** Process ids by part, for the account of CPU time. */
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
/** The programs of the two kinds of processes. */
export const programs = { api: resolveEntry('../src/main.js'), worker: resolveEntry('../workers/main.js') };

/**
 * Starts what is measured: PostgreSQL with fsync, Redis with its append-only file, one API process and one worker process,
 * all with a folder of their own. Ends everything again when it fails or the signal says so.
 */
export async function startEnvironment(options: EnvironmentOptions): Promise<Environment> {
  const { backend, signal } = options;
  const folder = await mkdtemp(join(tmpdir(), 'ams-bench-'));
  const ends: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true })];
  let ended: Promise<void> | undefined;
  const stop = () => {
    ended ??= stopAll(ends);
    return ended;
  };
  try {
    const begun = startPostgres({ dataDir: folder, restart: false, signal });
    const postgres = await withTimeout('PostgreSQL to start', timeoutMs, begun, signal);
    ends.push(postgres.stop);
    const redis =
      backend === 'redis'
        ? await startRedis({
            dataDir: folder,
            restart: false,
            signal,
            ...(options.redis_server !== undefined && { serverPath: options.redis_server }),
          })
        : null;
    if (redis) ends.push(redis.stop);
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
      fail: (reason: Error) => ended ?? options.fail(reason),
    };
    const { api_arguments = [] } = options;
    const api = await startChild(programs.api, { ...children, node_arguments: api_arguments });
    ends.push(() => stopChild(api));
    const worker = await startChild(programs.worker, children);
    ends.push(() => stopChild(worker));
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

/** The store of files that the environment names. */
function blobStoreEnv(environment: NodeJS.ProcessEnv): Record<string, string> {
  const own = Object.entries(environment).filter(([name]) => name.startsWith('S3_'));
  return Object.fromEntries(own.map(([name, value = '']) => [name, value]));
}

/** In the reverse order of the start; one that fails keeps none of the others from ending. */
async function stopAll(ends: (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const end of ends.toReversed()) {
    await withTimeout('a part to end', timeoutMs, end()).catch((error: unknown) => failures.push(error));
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
  /** Gets the word by which it says that it is ready. */
  onMessage?: (word: unknown) => void;
}

/** Starts a program of this project; resolves when it says that it is ready. */
export async function startChild(program: string, options: ChildOptions): Promise<ChildProcess> {
  options.signal.throwIfAborted();
  const { profile, node_arguments = [] } = options;
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const execArgv = [...node_arguments, ...profiling];
  const child = fork(program, [], {
    env: { PATH: process.env['PATH'] ?? '', ...options.env },
    execArgv,
    detached: true, // a Ctrl-C in the terminal is for the benchmark alone, which ends the parts in order
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  child.once('exit', (code, signal) =>
    options.fail(new Error(`${program} ended (${signal ?? String(code)})`)),
  );
  try {
    const ready = withTimeout(`${program} to be ready`, timeoutMs, once(child, 'message'), options.signal);
    const [word] = (await ready) as unknown[];
    options.onMessage?.(word);
    return child;
  } catch (error) {
    await stopChild(child);
    throw error;
  }
}

/** Asks it to end; ends it when it does not. */
export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await gone;
  clearTimeout(timer);
}
