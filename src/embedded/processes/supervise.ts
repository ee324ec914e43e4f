import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { LauncherError, toOneLine } from '../launcher-error.ts';
import { forgetProcess, recordProcess } from './run-record.ts';

export interface Part {
  name: string;
  dataDir: string;
  spawn: () => ChildProcess;
  /** Resolves when the child is ready. `signal` aborts when the caller stops waiting. */
  ready: (child: ChildProcess, signal: AbortSignal) => Promise<void>;
  /** The reason why it ended before it was ready, as one line. `result`: its signal or exit code. */
  explain?: (result: string) => string | null | Promise<string | null>;
  readyTimeoutMs: number;
  stopTimeoutMs: number;
  stopSignal?: NodeJS.Signals;
  killSignal?: NodeJS.Signals;
  backOff?: { initialMs: number; maxMs: number; resetAfterMs: number };
}

export interface Supervised {
  readonly pid: number | undefined;
  /** Sends the stop signal, kills after the timeout, and resolves when the process has ended. */
  stop: () => Promise<void>;
  /** Kills the process immediately. */
  kill: () => void;
}

const notReadyError = (part: Part, reason: string) => new LauncherError(`${part.name}: ${reason}`);

/**
 * Starts a child process and keeps it running. When it ends, reports it and starts it again after a back-off: 250 ms, doubling up to 10 s,
 * reset after 30 s without a restart.
 * @throws {LauncherError} when the first start fails or `signal` aborts it; nothing is left running then.
 */
export async function supervise(
  part: Part,
  options: { report: (line: string) => void; signal?: AbortSignal; restart?: boolean },
): Promise<Supervised> {
  const backOff = part.backOff ?? { initialMs: 250, maxMs: 10_000, resetAfterMs: 30_000 };
  const stopping = new AbortController();
  let child = await startPart(part, options.signal);

  const keepAlive = async () => {
    let delayMs = backOff.initialMs;
    while (!stopping.signal.aborted) {
      const startedAt = Date.now();
      const result = await waitForExit(child);
      if (stopping.signal.aborted) return;
      if (Date.now() - startedAt >= backOff.resetAfterMs) delayMs = backOff.initialMs;
      options.report(`${part.name} ended (${result}); restarting in ${delayMs} ms`);
      while (!(await restart(delayMs))) {
        if (stopping.signal.aborted) return;
        delayMs = Math.min(delayMs * 2, backOff.maxMs);
      }
      options.report(`${part.name} is running again`);
      delayMs = Math.min(delayMs * 2, backOff.maxMs);
    }
  };
  const restart = async (delayMs: number): Promise<boolean> => {
    try {
      await sleep(delayMs, undefined, { signal: stopping.signal });
      child = await startPart(part, stopping.signal);
      return true;
    } catch (error) {
      if (!stopping.signal.aborted) options.report(toOneLine(error));
      return false;
    }
  };
  const supervision = options.restart === false ? Promise.resolve() : keepAlive();

  return {
    get pid() {
      return child.pid;
    },
    stop: async () => {
      stopping.abort();
      await stopPart(part, child);
      await supervision;
      await stopPart(part, child); // a restart can have succeeded in the meantime
    },
    kill: () => {
      stopping.abort();
      child.kill(part.killSignal ?? 'SIGKILL');
    },
  };
}

/** Starts the child once. Resolves with it when it is ready. */
async function startPart(part: Part, signal: AbortSignal | undefined): Promise<ChildProcess> {
  signal?.throwIfAborted();
  const child = part.spawn();
  const waiting = new AbortController();
  const exited = waitForExit(child);
  if (child.pid !== undefined) recordProcess(part.dataDir, part.name, child.pid);
  try {
    await Promise.race([
      part.ready(child, waiting.signal),
      exited.then(async (result) => {
        throw notReadyError(part, (await part.explain?.(result)) ?? `ended before it was ready (${result})`);
      }),
      sleep(part.readyTimeoutMs, undefined, { signal: waiting.signal }).then(() => {
        throw notReadyError(part, `not ready after ${part.readyTimeoutMs / 1000} s`);
      }),
      rejectOnAbort(signal, waiting.signal),
    ]);
    return child;
  } catch (error) {
    await stopPart(part, child);
    throw error;
  } finally {
    waiting.abort();
  }
}

function rejectOnAbort(signal: AbortSignal | undefined, until: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(new LauncherError('stopped while starting')), {
      once: true,
      signal: until,
    });
  });
}

async function stopPart(part: Part, child: ChildProcess): Promise<void> {
  if (isRunning(child)) {
    const exited = waitForExit(child);
    const timer = new AbortController();
    child.kill(part.stopSignal ?? 'SIGTERM');
    const killed = sleep(part.stopTimeoutMs, undefined, { signal: timer.signal }).then(
      () => child.kill(part.killSignal ?? 'SIGKILL'),
      () => false, // it ended in time
    );
    await exited;
    timer.abort();
    await killed;
  }
  forgetProcess(part.dataDir, part.name);
}

const isRunning = (child: ChildProcess) =>
  child.pid !== undefined && child.exitCode === null && child.signalCode === null;

/** Resolves with the signal, exit code or start error that ended the child. */
function waitForExit(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    const onExit = () => resolve(child.signalCode ?? `exit code ${child.exitCode}`);
    if (child.exitCode !== null || child.signalCode !== null) return onExit();
    child.once('exit', onExit);
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (child.pid === undefined) resolve(error.code ?? error.message);
    });
  });
}
