import { mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { withTimeout } from '../shared/timeout.ts';
import { runToEnd, startChild } from './processes/children.ts';
import { LauncherError } from './launcher-error.ts';
import { takeLock } from './processes/lock.ts';
import { startPostgres } from './postgres/start-postgres.ts';
import { createDataDir } from './postgres/location.ts';
import type { Part, Supervised } from './processes/supervise.ts';
import { startRedis } from './redis.ts';
import { stopLeftover } from './processes/run-record.ts';
import { loadSecrets } from './secrets.ts';
import { removeServiceEnv, writeServiceEnv } from './service-env.ts';
import { checkPort, type Settings } from './settings.ts';

export interface LaunchOptions {
  settings: Settings;
  /** The files to run as API, worker and migrations. */
  entries: { api: string; worker: string; migrate: string };
  /** Receives one line per part, for stdout. */
  log: (line: string) => void;
  /** Receives later events of the parts, for stderr. */
  report: (line: string) => void;
  backOff?: NonNullable<Part['backOff']>;
}

export interface Launched {
  /** Resolves when everything runs; rejects with the reason after everything was stopped. */
  ready: Promise<void>;
  /**
   * Stops API, worker, Redis and PostgreSQL in this order, within 10 s in total. A slow API does not block the worker: both have ended after
   * 6 s. Can be called at any time.
   */
  stop: () => Promise<void>;
  /** Kills everything at once. */
  kill: () => void;
}

const stopTimeoutsMs = { api: 6000, worker: 3000, redis: 1000, postgres: 2500 } as const;
type PartName = keyof typeof stopTimeoutsMs;
/** How long the API can take to stop before the worker is stopped too. */
const workerStopDelayMs = stopTimeoutsMs.api - stopTimeoutsMs.worker;

/** Starts the whole service on this machine. */
export function launch(options: LaunchOptions): Launched {
  const stopping = new AbortController();
  const running = new Map<PartName, Pick<Supervised, 'stop' | 'kill'>>();
  let release = () => {};

  const stopParts = async () => {
    const failures: unknown[] = [];
    const stopPart = async (name: PartName) => {
      await running
        .get(name)
        ?.stop()
        .catch((error: unknown) => failures.push(error));
      running.delete(name);
    };
    const api = stopPart('api');
    await withTimeout(workerStopDelayMs, api, () => undefined);
    await Promise.all([api, stopPart('worker')]);
    await stopPart('redis');
    await stopPart('postgres');
    release();
    if (failures.length > 0) throw failures[0];
  };
  const started = (async () => {
    const dataDir = createDataDir(options.settings.dataDir);
    const unlock = takeLock(dataDir);
    release = () => {
      release = () => {};
      removeServiceEnv(dataDir);
      unlock();
    };
    await start({ ...options, settings: { ...options.settings, dataDir } }, running, stopping.signal);
  })();
  const ready = started.catch(async (error: unknown) => {
    await stopParts();
    throw stopping.signal.aborted ? new LauncherError('stopped while starting') : error;
  });

  return {
    ready,
    stop: async () => {
      stopping.abort();
      await started.catch(() => {}); // `ready` rejects with the reason
      await stopParts();
    },
    kill: () => {
      stopping.abort();
      for (const part of running.values()) part.kill();
      release();
    },
  };
}

async function start(
  options: LaunchOptions,
  running: Map<PartName, Pick<Supervised, 'stop' | 'kill'>>,
  signal: AbortSignal,
): Promise<void> {
  const { settings, entries, log, report } = options;
  const { dataDir } = settings;
  await checkPort(settings);
  for (const leftover of ['api', 'worker', 'migrate']) await stopLeftover(dataDir, leftover);

  let { databaseUrl, redisUrl } = settings;
  if (databaseUrl === undefined) {
    const postgres = await startPostgres({ dataDir, report, signal, stopTimeoutMs: stopTimeoutsMs.postgres });
    running.set('postgres', postgres);
    databaseUrl = postgres.url;
    if (postgres.note !== null) report(postgres.note);
    log(
      `postgres  ${postgres.version} on 127.0.0.1:${postgres.port}, data in ${shortenPath(postgres.folder)}`,
    );
  } else log(`postgres  from DATABASE_URL`);
  signal.throwIfAborted();
  if (redisUrl === undefined) {
    const redis = await startRedis({ dataDir, report, signal, stopTimeoutMs: stopTimeoutsMs.redis });
    if (redis !== null) {
      running.set('redis', redis);
      redisUrl = redis.url;
      log(
        `queue     ${redis.serverPath} on 127.0.0.1:${redis.port}, data in ${shortenPath(join(dataDir, 'redis'))}`,
      );
    } else log(`queue     BullMQ on PostgreSQL (no valkey-server or redis-server on PATH)`);
  } else log(`queue     Redis from REDIS_URL`);

  const blobs = join(dataDir, 'blobs');
  mkdirSync(blobs, { recursive: true, mode: 0o700 });
  log(`blobs     ${shortenPath(blobs)}`);

  const service = {
    DATABASE_URL: databaseUrl,
    ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
    SECRET_KEY: settings.secretKey ?? loadSecrets(dataDir).secret_key,
    HOST: settings.host,
    PORT: String(settings.port),
    PUBLIC_URL: settings.publicUrl,
    DATA_DIR: dataDir,
    LOG_LEVEL: settings.logLevel,
  };
  // There is no load balancer here, so Ctrl-C need not wait for one.
  const env = { ...settings.environment, ...service, DRAIN_SECONDS: '0' };
  await runToEnd({ name: 'migrate', entry: entries.migrate, dataDir, env, signal });
  log('schema    up to date');
  // Before the API listens: when /readyz returns 200, `ams` finds the service.
  writeServiceEnv(dataDir, service);
  const child = { dataDir, env, report, signal, ...(options.backOff && { backOff: options.backOff }) };
  running.set(
    'api',
    await startChild({ ...child, name: 'api', entry: entries.api, stopTimeoutMs: stopTimeoutsMs.api }),
  );
  log(`api       ${settings.host}:${settings.port}`);
  running.set(
    'worker',
    await startChild({
      ...child,
      name: 'worker',
      entry: entries.worker,
      stopTimeoutMs: stopTimeoutsMs.worker,
    }),
  );
  log(`worker    ${settings.environment['WORKER_ROLES'] ?? 'all roles'}`);
  log(`ready ${settings.publicUrl}`);
}

/** Relative when the path is below the current folder. */
function shortenPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short || '.';
}
