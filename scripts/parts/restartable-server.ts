import { setTimeout as pause } from 'node:timers/promises';
import type { ServerProcess } from '../../src/embedded/processes/server-process.ts';
import { type RedisOptions, type RunningRedis, startRedis } from '../../src/embedded/redis.ts';

interface Running extends ServerProcess {
  url: string;
  port: number;
}

/** A server that can be killed and restarted. */
export interface Restartable {
  readonly url: string;
  /** Ends the server without a shutdown. */
  kill(): void;
  /** Ends it with SIGKILL. */
  kill9(): Promise<void>;
  /** Restarts it on the same port with its stored data. */
  restart(): Promise<void>;
}

const timeoutMs = 20_000;

/** Starts a server that is stopped at the end. `start` waits for the previous process. */
export async function startRestartable<T extends Running>(
  start: (port: { port?: number }) => Promise<T>,
  { onEnd, signal }: { onEnd(cleanup: () => Promise<unknown>): void; signal: AbortSignal },
): Promise<T & Restartable> {
  let running = await start({});
  const { port } = running;
  onEnd(() => running.stop());

  return {
    ...running,
    kill: () => running.kill(),
    async kill9() {
      if (running.pid !== undefined) process.kill(running.pid, 'SIGKILL');
      await running.ended;
    },
    async restart() {
      const deadline = Date.now() + timeoutMs;
      for (;;) {
        try {
          running = await start({ port });
          return;
        } catch (error) {
          // A client connection can hold the port by chance for a short time.
          if (Date.now() > deadline || signal.aborted) throw error;
          await pause(100);
        }
      }
    },
  };
}

/** @throws when neither Redis nor Valkey is on PATH */
export async function startInstalledRedis(options: RedisOptions): Promise<RunningRedis> {
  const redis = await startRedis(options);
  if (!redis) throw new Error('no valkey-server or redis-server on PATH');
  return redis;
}
