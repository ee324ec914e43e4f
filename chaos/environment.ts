import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toOneLine } from '../src/embedded/launcher-error.ts';
import { startPostgres } from '../src/embedded/postgres/start-postgres.ts';
import { findRedisServer } from '../src/embedded/redis.ts';
import { loadSecrets } from '../src/embedded/secrets.ts';
import { migrateForward } from '../src/platform/database/migrations.ts';
import { createGuardedFolder } from '../scripts/parts/cleanup-guard.ts';
import { differenceMessage } from '../src/services/messages/send-context/compare.ts';
import { startTcpBalancer, type TcpBalancer } from '../scripts/parts/tcp-balancer.ts';
import {
  type Restartable,
  startInstalledRedis,
  startRestartable,
} from '../scripts/parts/restartable-server.ts';
import { createProcessSlot, type ProcessSlot } from './faults/process-slot.ts';

/** The service under test. Every part of it can be stopped and restarted. */
export interface Environment {
  /** Address of the balancer, which the clients use. */
  base: string;
  /** Settings of a process of this installation. */
  env: Record<string, string>;
  apis: readonly ProcessSlot[];
  workers: readonly ProcessSlot[];
  balancer: TcpBalancer;
  /** Folder of the logs of all parts. */
  logs: string;
  redis: Restartable | null;
  /** `folder`: of its data. */
  postgres: Restartable & { folder: string };
  /** What the processes have logged of differences between caches and the database: their metrics end with them. */
  listDifferences(): Promise<string[]>;
  /** Stops everything and removes its data unless they have a folder of their own, and the logs unless `keepLogs`. */
  stop(keepLogs: boolean): Promise<void>;
}

/**
 * Starts PostgreSQL, Redis if installed, two APIs behind a balancer, and two workers, with the data of an earlier start in `folder`, or in
 * a temporary folder.
 */
export async function startEnvironment(options: {
  folder: string | undefined;
  signal: AbortSignal;
  onComplaint: (what: string) => void;
}): Promise<Environment> {
  const { signal, onComplaint } = options;
  const logs = await mkdtemp(join(tmpdir(), 'ams-chaos-logs-'));
  const cleanups: (() => Promise<unknown>)[] = [];
  let { folder } = options;
  if (folder === undefined) {
    const own = await createGuardedFolder('ams-chaos-');
    ({ folder } = own);
    cleanups.push(own.remove);
  }
  let stopped: Promise<void> | undefined;
  async function end(keepLogs: boolean): Promise<void> {
    for (const cleanup of cleanups.toReversed())
      await cleanup().catch((error: unknown) => onComplaint(toOneLine(error)));
    if (!keepLogs) await rm(logs, { recursive: true, force: true });
  }
  const stop = (keepLogs: boolean) => {
    stopped ??= end(keepLogs);
    return stopped;
  };
  try {
    const settings = { dataDir: folder, signal };
    const parts = { onEnd: (cleanup: () => Promise<unknown>) => void cleanups.push(cleanup), signal };
    const postgres = await startRestartable((port) => startPostgres({ ...settings, ...port }), parts);
    cleanups.push(() => copyFile(join(folder, 'postgres.log'), join(logs, 'postgres.log')));
    const redis =
      findRedisServer() === null
        ? null
        : await startRestartable((port) => startInstalledRedis({ ...settings, ...port }), parts);
    await migrateForward(postgres.url);
    const apis: ProcessSlot[] = [];
    const balancer = await startTcpBalancer(() => apis.flatMap(({ target }) => target() ?? []));
    cleanups.push(() => balancer.close());
    const base = `http://127.0.0.1:${balancer.port}`;
    const env = {
      DATABASE_URL: postgres.url,
      SECRET_KEY: loadSecrets(folder).secret_key,
      HOST: '127.0.0.1',
      PORT: '0',
      PUBLIC_URL: base,
      DATA_DIR: folder,
      LOG_LEVEL: 'info',
      RATE_LIMITS: 'off',
      SEND_CONTEXT: 'compare',
      WEBHOOK_NETWORKS: '127.0.0.0/8',
      DRAIN_SECONDS: '0',
      NODE_ENV: 'production',
      ...(redis && { REDIS_URL: redis.url }),
    };
    const slots = { env, logs, signal, onComplaint };
    apis.push(createProcessSlot('api', 1, slots), createProcessSlot('api', 2, slots));
    const workers = [createProcessSlot('worker', 1, slots), createProcessSlot('worker', 2, slots)];
    const all = [...apis, ...workers];
    cleanups.push(() => Promise.all(all.map((slot) => slot.kill())));
    await Promise.all(all.map((slot) => slot.start()));
    const listDifferences = () => listLoggedDifferences(logs);
    return { base, env, apis, workers, balancer, logs, redis, postgres, listDifferences, stop };
  } catch (error) {
    await stop(true);
    throw error;
  }
}

async function listLoggedDifferences(logs: string): Promise<string[]> {
  const names = (await readdir(logs)).filter((name) => name.startsWith('api-'));
  const texts = await Promise.all(names.map((name) => readFile(join(logs, name), 'utf8')));
  return texts.flatMap((text) => text.split('\n').filter((line) => line.includes(differenceMessage)));
}
