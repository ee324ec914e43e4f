import { join } from 'node:path';
import { toOneLine } from '../../src/embedded/launcher-error.ts';
import { type ServicePart, type ServiceProcess, startProcess } from '../../scripts/parts/service-process.ts';
import type { Target } from '../../scripts/parts/tcp-balancer.ts';

/** A slot for one process, which can be ended and replaced by another one. */
export interface ProcessSlot {
  /** Undefined without a process. */
  pid(): number | undefined;
  /** The address of the process; undefined without a process, and for a worker. */
  target(): Target | undefined;
  /** Starts a process. Retries until one is ready, because the database may be unavailable. */
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Sends SIGTERM and waits for the exit. Reports an exit code other than 0. */
  stop(): Promise<void>;
  /** Suspends the process; the returned function resumes it. */
  freeze(): () => void;
}

export interface ProcessSlotOptions {
  env: Record<string, string>;
  /** Folder of the logs. */
  logs: string;
  signal: AbortSignal;
  /** Called when a process misbehaves. */
  onComplaint: (what: string) => void;
}

/** How long starting is retried, in milliseconds. */
const timeoutMs = 30_000;
/** Longer than all phases of a shutdown together, in milliseconds. */
const stopTimeoutMs = 30_000;

export function createProcessSlot(part: ServicePart, number: number, parts: ProcessSlotOptions): ProcessSlot {
  const { env, logs, signal, onComplaint } = parts;
  const name = `${part}-${number}`;
  let running: ServiceProcess | undefined;
  let starting: Promise<void> | undefined;

  function take(): ServiceProcess | undefined {
    const process = running;
    running = undefined;
    return process;
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
    pid: () => running?.pid,
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
        if (code !== 0) onComplaint(`${name} received SIGTERM and exited with ${by ?? String(code)}`);
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
