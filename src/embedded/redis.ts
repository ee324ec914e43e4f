import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from './find-program.ts';
import { LauncherError } from './launcher-error.ts';
import { choosePort, savePort } from './ports.ts';
import { createDataDir } from './postgres/location.ts';
import { writePrivateFile } from './private-file.ts';
import { type ServerProcess, type ServerProgram, startServerProcess } from './processes/server-process.ts';
import { isRedisReady } from './redis-ping.ts';
import { stopLeftover } from './processes/run-record.ts';
import { loadSecrets } from './secrets.ts';
import { waitUntil } from '../shared/wait-until.ts';

export interface RedisOptions {
  /** The folder that holds `redis/`, `secrets.json` and `redis.log`. Created when missing. For one launcher at a time. */
  dataDir: string;
  /** Default: the first `valkey-server` or `redis-server` on PATH. */
  serverPath?: string;
  /** The environment of the server. Default: that of this process. */
  env?: NodeJS.ProcessEnv;
  /** Whether data is written to disk (true). */
  persist?: boolean;
  /** Default: the previous port if it is free, else any free one. */
  port?: number;
  /** Before it is killed (5,000). */
  stopTimeoutMs?: number;
  signal?: AbortSignal;
}

export interface RunningRedis extends ServerProcess {
  /** With the password. */
  url: string;
  port: number;
  serverPath: string;
}

/** The path of the Redis-compatible server on this machine, or null. */
export const findRedisServer = (): string | null => findProgram(['valkey-server', 'redis-server']);

/**
 * Starts a private Redis or Valkey on loopback, with a generated password that is not on the command line, and keeps it running. It never
 * evicts keys and, unless `persist` is false, appends every write to a file. Stops a server that an earlier, killed launcher left.
 * @returns null when this machine has no such server.
 * @throws {LauncherError} one line: port not available, does not start.
 */
export async function startRedis(options: RedisOptions): Promise<RunningRedis | null> {
  const dataDir = createDataDir(options.dataDir);
  await stopLeftover(dataDir, 'redis');
  const serverPath = options.serverPath ?? findRedisServer();
  if (serverPath === null) return null;
  const { redis_password: password } = loadSecrets(dataDir);
  const folder = join(dataDir, 'redis');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const log = join(dataDir, 'redis.log');
  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort(dataDir, 'redis', options.port);
    const configFile = join(folder, 'redis.conf');
    writePrivateFile(configFile, createConfig({ port, password, folder, persist: options.persist ?? true }));
    let logged = 0;
    const program: ServerProgram = {
      name: 'redis',
      dataDir,
      spawn: () => {
        const out = openSync(log, 'a', 0o600);
        logged = statSync(log).size;
        const child = spawn(serverPath, [configFile], {
          cwd: folder,
          env: options.env ?? process.env,
          detached: true,
          stdio: ['ignore', out, out],
        });
        closeSync(out);
        return child;
      },
      ready: async (_child, signal) => {
        await waitUntil(() => isRedisReady(port, password), { signal });
      },
      explain: () => findReason(readFileSync(log).subarray(logged).toString()),
      readyTimeoutMs: 30_000,
      stopTimeoutMs: options.stopTimeoutMs ?? 5000,
    };
    try {
      const server = await startServerProcess(program, options.signal);
      savePort(dataDir, 'redis', port);
      return {
        url: `redis://:${password}@127.0.0.1:${port}`,
        port,
        serverPath,
        ...server,
      };
    } catch (error) {
      const portWasTaken = error instanceof LauncherError && /in use|Failed listening/.test(error.message);
      if (attempt === 5 || options.port !== undefined || !portWasTaken) throw error;
    }
  }
}

function createConfig(options: { port: number; password: string; folder: string; persist: boolean }): string {
  return [
    'bind 127.0.0.1',
    `port ${options.port}`,
    `requirepass ${options.password}`,
    `dir ${JSON.stringify(options.folder)}`,
    'daemonize no',
    'maxmemory-policy noeviction',
    'save ""',
    `appendonly ${options.persist ? 'yes' : 'no'}`,
    'loglevel warning',
    '',
  ].join('\n');
}

function findReason(log: string): string | null {
  const lines = log.split('\n').map((line) => line.trim());
  const last = lines.findLast((line) => line !== '' && !/WARNING/.test(line));
  return last?.replace(/^\d+:\w .*? [#*] /, '') ?? null;
}
