import { join } from 'node:path';
import { toOneLine } from '../../src/embedded/launcher-error.ts';
import { type ServicePart, type ServiceProcess, startProcess } from '../../scripts/parts/service-process.ts';
import type { Target } from '../../scripts/parts/tcp-balancer.ts';

/** The place of one process: when the one in it is gone, another one takes the place. */
export interface ProcessSlot {
  /** Where it listens; undefined while there is none, and of a worker. */
  target(): Target | undefined;
  /** Starts a process, again and again until one is ready: the database may be away just now. */
  start(): Promise<void>;
  kill(): Promise<void>;
  /** SIGTERM, and waits for the end, which must be a clean one. */
  stop(): Promise<void>;
  /** Stops the clock of the process; answers what lets it go on. */
  freeze(): () => void;
}

export interface ProcessSlotOptions {
  env: Record<string, string>;
  /** A folder. */
  logs: string;
  signal: AbortSignal;
  /** Told of what no process must do. */
  onComplaint: (what: string) => void;
}

/** How long starting may fail, in milliseconds. */
const timeoutMs = 30_000;
/** Longer than all phases of a stop together. */
const stopTimeoutMs = 30_000;

export function createProcessSlot(part: ServicePart, number: number, parts: ProcessSlotOptions): ProcessSlot {
  const { env, logs, signal, onComplaint } = parts;
  const name = `${part}-${number}`;
  let running: ServiceProcess | undefined;
  let starting: Promise<void> | undefined;

  function take(): ServiceProcess | undefined {
    const taken = running;
    running = undefined;
    return taken;
  }

  async function begin(): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    while (!running) {
      signal.throwIfAborted();
      try {
        running = await startProcess(part, env, { logFile: join(logs, `${name}.log`) });
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
    }
  }

  return {
    target() {
      if (!running?.url) return undefined;
      const { hostname, port } = new URL(running.url);
      return { host: hostname, port: Number(port) };
    },
    start() {
      starting ??= begin().finally(() => {
        starting = undefined;
      });
      return starting;
    },
    async kill() {
      await take()
        ?.kill9()
        .catch((error: unknown) => onComplaint(`${name}: ${toOneLine(error)}`));
    },
    async stop() {
      const stopping = take();
      if (!stopping) return;
      const timer = setTimeout(() => void stopping.kill9(), stopTimeoutMs);
      try {
        const { code, signal: by } = await stopping.terminate();
        if (code !== 0) onComplaint(`${name} was asked to stop and ended with ${by ?? String(code)}`);
      } catch (error) {
        onComplaint(`${name}: ${toOneLine(error)}`);
      } finally {
        clearTimeout(timer);
      }
    },
    freeze() {
      const frozen = running;
      frozen?.freeze();
      return () => frozen?.thaw();
    },
  };
}
