import { setTimeout as pause } from 'node:timers/promises';

interface Running {
  url: string;
  port: number;
  stop(): Promise<void>;
  kill(): void;
}

/** A server that can be taken away and brought back. */
export interface Restartable {
  readonly url: string;
  /** Without a word: nothing is finished, nobody is told. */
  kill(): void;
  /** On the same port, with what it had kept. */
  restart(): Promise<void>;
}

const timeoutMs = 20_000;

/** Starts a server; what stops it is added to `ends`. `start` waits for what an earlier start has left. */
export async function startRestartable(
  start: (port: { port?: number }) => Promise<Running>,
  { ends, signal }: { ends: (() => Promise<unknown>)[]; signal: AbortSignal },
): Promise<Restartable> {
  let running = await start({});
  const { url, port } = running;
  ends.push(() => running.stop());

  return {
    url,
    kill: () => running.kill(),
    async restart() {
      const deadline = Date.now() + timeoutMs;
      for (;;) {
        try {
          running = await start({ port });
          return;
        } catch (error) {
          // A client's connection may have got the port meanwhile, by chance; it does not keep it for long.
          if (Date.now() > deadline || signal.aborted) throw error;
          await pause(100);
        }
      }
    },
  };
}
