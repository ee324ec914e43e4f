import { setTimeout as pause } from 'node:timers/promises';

interface Running {
  url: string;
  port: number;
  stop(): Promise<void>;
  kill(): void;
}

/** A server that can be killed and restarted. */
export interface Restartable {
  readonly url: string;
  /** Kills the server without a shutdown. */
  kill(): void;
  /** Restarts it on the same port with its stored data. */
  restart(): Promise<void>;
}

const timeoutMs = 20_000;

/** Starts a server and adds its stop function to `cleanups`. `start` waits for the previous process. */
export async function startRestartable<T extends Running>(
  start: (port: { port?: number }) => Promise<T>,
  { cleanups, signal }: { cleanups: (() => Promise<unknown>)[]; signal: AbortSignal },
): Promise<T & Restartable> {
  let running = await start({});
  const { port } = running;
  cleanups.push(() => running.stop());

  return {
    ...running,
    kill: () => running.kill(),
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
