import { mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Config, loadConfig, pickSettings } from '../config.ts';
import { migrateForward } from '../platform/database/migrations.ts';
import { createLogger } from '../platform/observability/logger.ts';
import { createLifecycle, type Lifecycle } from '../start/lifecycle.ts';
import { describeError } from '../shared/error-log.ts';
import { LauncherError } from './launcher-error.ts';
import { takeLock } from './processes/lock.ts';
import type { ServerProcess } from './processes/server-process.ts';
import { startPostgres } from './postgres/start-postgres.ts';
import { createDataDir } from './postgres/location.ts';
import { startRedis } from './redis.ts';
import { startApiAndWorker } from './api-and-worker.ts';
import { loadSecrets } from './secrets.ts';
import { removeServiceEnv, writeServiceEnv } from './service-env.ts';
import { checkPort, type Settings } from './settings.ts';

export interface LaunchOptions {
  settings: Settings;
  /** Receives one line per part, for stdout. */
  log: (line: string) => void;
  /** Receives a note about an unusual location, for stderr. */
  report: (line: string) => void;
}

export interface Launched {
  /** Resolves when everything runs; rejects with the reason after everything was stopped. */
  ready: Promise<void>;
  /** Rejects when PostgreSQL or Redis ends by itself. Everything else still runs. */
  failed: Promise<never>;
  /**
   * Stops API and worker, then Redis, then PostgreSQL, within 10 s in total. Can be called at any time.
   * @returns whether everything stopped in time
   */
  stop: () => Promise<boolean>;
  /** Kills the servers at once. */
  kill: () => void;
}

const stopTimeoutsMs = { service: 6_000, redis: 1_000, postgres: 2_500 } as const;
/** After its timeout a server is killed. */
const killTimeoutMs = 200;

/** What the parts of a start share. */
interface Launch extends LaunchOptions {
  lifecycle: Lifecycle;
  signal: AbortSignal;
  /** Keeps a server for `kill` and `failed`, and registers its stop. */
  addServer(name: 'redis' | 'postgres', server: ServerProcess): void;
}

/** Starts the whole service on this machine. */
export function launch(options: LaunchOptions): Launched {
  const stopping = new AbortController();
  const lifecycle = createLifecycle(createLogger({ level: options.settings.logLevel, part: 'launcher' }));
  const servers: ServerProcess[] = [];
  let release = () => {};
  const { promise: failed, reject: fail } = deferFailure();

  const addServer: Launch['addServer'] = (name, server) => {
    servers.push(server);
    lifecycle.onStop(name, stopTimeoutsMs[name] + killTimeoutMs, server.stop);
    void watch(name, server);
  };
  const watch = async (name: string, { ended }: ServerProcess) => {
    const result = await ended;
    if (!stopping.signal.aborted) fail(new LauncherError(`${name} ended (${result})`));
  };
  const stop = async () => {
    stopping.abort();
    await started.catch(() => {}); // `ready` rejects with the reason
    return await lifecycle.stop('stopped by its user', { isGraceful: true });
  };
  const started = (async () => {
    const dataDir = createDataDir(options.settings.dataDir);
    const unlock = takeLock(dataDir);
    release = () => {
      removeServiceEnv(dataDir);
      unlock();
    };
    lifecycle.onStop('lock', 1_000, async () => release());
    const settings = { ...options.settings, dataDir };
    await start({ ...options, settings, lifecycle, signal: stopping.signal, addServer });
  })();
  const ready = started.catch(async (error: unknown) => {
    const isStopping = stopping.signal.aborted;
    await stop();
    throw isStopping ? new LauncherError('stopped while starting') : error;
  });
  return {
    ready,
    failed,
    stop,
    kill: () => {
      stopping.abort();
      for (const server of servers) server.kill();
      release();
    },
  };
}

/** A promise that only rejects. It can stay unused. */
function deferFailure(): { promise: Promise<never>; reject: (reason: LauncherError) => void } {
  let reject = (_reason: LauncherError) => {};
  const promise = new Promise<never>((_resolve, onReject) => {
    reject = onReject;
  });
  promise.catch(() => {}); // without a reader it would count as unhandled
  return { promise, reject };
}

async function start(launched: Launch): Promise<void> {
  const { settings, signal, lifecycle, log } = launched;
  await checkPort(settings);
  const databaseUrl = await openPostgres(launched);
  signal.throwIfAborted();
  const redisUrl = await openRedis(launched);
  const blobs = join(settings.dataDir, 'blobs');
  mkdirSync(blobs, { recursive: true, mode: 0o700 });
  log(`blobs     ${shortenPath(blobs)}`);

  const service = {
    ...pickSettings(settings.environment),
    DATABASE_URL: databaseUrl,
    ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
    SECRET_KEY: settings.environment['SECRET_KEY'] ?? loadSecrets(settings.dataDir).secret_key,
    HOST: settings.host,
    PORT: String(settings.port),
    PUBLIC_URL: settings.publicUrl,
    DATA_DIR: settings.dataDir,
    LOG_LEVEL: settings.logLevel,
  };
  // There is no load balancer here, so Ctrl-C need not wait for one.
  const config = loadConfig({ ...service, DRAIN_SECONDS: '0' });
  signal.throwIfAborted();
  await migrate(config);
  log('schema    up to date');
  // Before the API listens: when /readyz returns 200, `ams` finds the service.
  writeServiceEnv(settings.dataDir, service);
  signal.throwIfAborted();
  await startApiAndWorker(config, lifecycle, stopTimeoutsMs.service);
  log(`worker    ${settings.environment['WORKER_ROLES'] ?? 'all roles'}`);
  log(`api       ${settings.host}:${settings.port}`);
  log(`ready ${settings.publicUrl}`);
}

async function migrate(config: Config): Promise<void> {
  try {
    await migrateForward(config.DATABASE_DIRECT_URL);
  } catch (error) {
    throw new LauncherError(`cannot migrate: ${describeError(error)}`);
  }
}

/** Starts PostgreSQL unless DATABASE_URL names one. Returns its URL. */
async function openPostgres({ settings, signal, addServer, log, report }: Launch): Promise<string> {
  const { DATABASE_URL } = settings.environment;
  if (DATABASE_URL !== undefined) {
    log('postgres  from DATABASE_URL');
    return DATABASE_URL;
  }
  const { dataDir } = settings;
  const postgres = await startPostgres({ dataDir, signal, stopTimeoutMs: stopTimeoutsMs.postgres });
  addServer('postgres', postgres);
  if (postgres.note !== null) report(postgres.note);
  log(`postgres  ${postgres.version} on 127.0.0.1:${postgres.port}, data in ${shortenPath(postgres.folder)}`);
  return postgres.url;
}

/** Starts Redis unless REDIS_URL names one. Returns its URL; undefined if this machine has none. */
async function openRedis({ settings, signal, addServer, log }: Launch): Promise<string | undefined> {
  const { REDIS_URL } = settings.environment;
  if (REDIS_URL !== undefined) {
    log('queue     Redis from REDIS_URL');
    return REDIS_URL;
  }
  const { dataDir } = settings;
  const redis = await startRedis({ dataDir, signal, stopTimeoutMs: stopTimeoutsMs.redis });
  if (redis === null) {
    log('queue     BullMQ on PostgreSQL (no valkey-server or redis-server on PATH)');
    return undefined;
  }
  addServer('redis', redis);
  log(
    `queue     ${redis.serverPath} on 127.0.0.1:${redis.port}, data in ${shortenPath(join(dataDir, 'redis'))}`,
  );
  return redis.url;
}

/** Relative when the path is below the current folder. */
function shortenPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short || '.';
}
