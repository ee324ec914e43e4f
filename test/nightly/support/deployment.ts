import { randomBytes } from 'node:crypto';
import { readFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import {
  type Program,
  type ServicePart,
  type ServiceProcess,
  startProcess,
} from '../../../scripts/parts/service-process.ts';
import { compose, type Core } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import { startTestRedis } from '../../support/servers/redis/server.ts';
import { queryOnce } from '../../support/servers/postgres/database.ts';

/** Processes of the service that start and stop on one database and one Redis. */
export interface Deployment {
  base: string;
  env: Record<string, string>;
  postgres: { url: string };
  /** The services in the test process: they create agents and inspect the database, but serve no requests. */
  core: Core;
  /** Starts a process. `env` overrides the shared settings. */
  start(
    part: ServicePart,
    own?: { env?: Record<string, string>; program?: Program },
  ): Promise<ServiceProcess>;
  /** Sends SIGTERM to all of them, one after the other; each must exit cleanly. */
  terminate(...processes: ServiceProcess[]): Promise<void>;
  /** Resolves when this many more messages are stored. */
  waitForMoreMessages(count: number): Promise<void>;
  /** The errors in the logs of all processes. */
  errors(): Promise<string[]>;
  stop(): Promise<void>;
}

/** The timeout of any step on a busy machine, in milliseconds. */
const waitOptions = { timeout: 60_000, interval: 100 };

/** @param base the address for clients: a balancer in front of the processes. */
export async function startDeployment(database: { url: string }, base: string): Promise<Deployment> {
  const redis = await startTestRedis();
  const folder = await mkdtemp(join(tmpdir(), 'ams-house-'));
  const logFile = join(folder, 'log');
  const env: Record<string, string> = {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
    HOST: '127.0.0.1',
    PORT: '0',
    PUBLIC_URL: base,
    DATA_DIR: folder,
    RATE_LIMITS: 'off',
    WEBHOOK_NETWORKS: '127.0.0.0/8',
    DRAIN_SECONDS: '0',
    LOG_LEVEL: 'info',
    NODE_ENV: 'production',
  };
  const core = compose(loadConfig({ ...env, LOG_LEVEL: 'silent', DATABASE_POOL_SIZE: '4' }), 'test');
  const running = new Set<ServiceProcess>();

  async function stored(): Promise<number> {
    const sql = 'select count(*)::int as count from messages';
    return (await queryOnce<{ count: number }>(database.url, sql)).rows[0]?.count ?? 0;
  }

  return {
    base,
    env,
    postgres: database,
    core,
    async start(part, own = {}) {
      const started = await startProcess(part, { ...env, ...own.env }, { logFile, program: own.program });
      running.add(started);
      return started;
    },
    async terminate(...processes) {
      for (const each of processes) {
        running.delete(each);
        const { code, signal } = await each.terminate();
        if (code !== 0) throw new Error(`a process ended with ${signal ?? code}:\n${each.log()}`);
      }
    },
    async waitForMoreMessages(count) {
      const wanted = (await stored()) + count;
      await vi.waitUntil(async () => (await stored()) >= wanted, waitOptions);
    },
    async errors() {
      const lines = (await readFile(logFile, 'utf8')).split('\n');
      return lines.filter((line) => /^\{"level":[56]0,/.test(line));
    },
    async stop() {
      await Promise.all([...running].map((each) => each.kill9()));
      await core.close();
      await redis.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
