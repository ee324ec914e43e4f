import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { LauncherError, toOneLine } from '../launcher-error.ts';
import { forgetProcess, recordProcess } from './run-record.ts';

export interface Part {
  name: string;
  dataDir: string;
  spawn: () => ChildProcess;
  /** Resolves when the child can be used. `signal` aborts when nobody waits any more. */
  ready: (child: ChildProcess, signal: AbortSignal) => Promise<void>;
  /** Why it ended, from its own log, as one line. */
  explain?: () => string | null;
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
  /** Kills at once. */
  kill: () => void;
}

const notReadyError = (part: Part, reason: string) => new LauncherError(`${part.name}: ${reason}`);

/**
 * Starts a child process and keeps it alive: when it dies it is reported and started again, waiting longer each time
 * (250 ms, doubling up to 10 s; from the beginning once it stayed up for 30 s). All times in ms.
 * @throws {LauncherError} when the first start fails or `signal` aborts it; nothing is left running then.
 */
export async function supervise(
  part: Part,
  options: { report: (line: string) => void; signal?: AbortSignal; restart?: boolean },
): Promise<Supervised> {
  const backOff = part.backOff ?? { initialMs: 250, maxMs: 10_000, resetAfterMs: 30_000 };
  const over = new AbortController();
  let child = await startPart(part, options.signal);

  const keepAlive = async () => {
    let delay = backOff.initialMs;
    while (!over.signal.aborted) {
      const since = Date.now();
      const how = await waitForExit(child);
      if (over.signal.aborted) return;
      if (Date.now() - since >= backOff.resetAfterMs) delay = backOff.initialMs;
      options.report(`${part.name} ended (${how}); it is started again in ${delay} ms`);
      while (!(await again(delay))) {
        if (over.signal.aborted) return;
        delay = Math.min(delay * 2, backOff.maxMs);
      }
      options.report(`${part.name} is back`);
      delay = Math.min(delay * 2, backOff.maxMs);
    }
  };
  const again = async (delay: number): Promise<boolean> => {
    try {
      await sleep(delay, undefined, { signal: over.signal });
      child = await startPart(part, over.signal);
      return true;
    } catch (error) {
      if (!over.signal.aborted) options.report(toOneLine(error));
      return false;
    }
  };
  const kept = options.restart === false ? Promise.resolve() : keepAlive();

  return {
    get pid() {
      return child.pid;
    },
    stop: async () => {
      over.abort();
      await stopPart(part, child);
      await kept;
      await stopPart(part, child); // a restart may just have succeeded
    },
    kill: () => {
      over.abort();
      child.kill(part.killSignal ?? 'SIGKILL');
    },
  };
}

/** One start: resolves with a child that is ready. */
async function startPart(part: Part, signal: AbortSignal | undefined): Promise<ChildProcess> {
  signal?.throwIfAborted();
  const child = part.spawn();
  const waiting = new AbortController();
  const fate = waitForExit(child);
  if (child.pid !== undefined) recordProcess(part.dataDir, part.name, child.pid);
  try {
    await Promise.race([
      part.ready(child, waiting.signal),
      fate.then((how) => {
        throw notReadyError(part, part.explain?.() ?? `ended before it was ready (${how})`);
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
    const gone = waitForExit(child);
    const limit = new AbortController();
    child.kill(part.stopSignal ?? 'SIGTERM');
    const hard = sleep(part.stopTimeoutMs, undefined, { signal: limit.signal }).then(
      () => child.kill(part.killSignal ?? 'SIGKILL'),
      () => false, // it went in time
    );
    await gone;
    limit.abort();
    await hard;
  }
  forgetProcess(part.dataDir, part.name);
}

const isRunning = (child: ChildProcess) =>
  child.pid !== undefined && child.exitCode === null && child.signalCode === null;

/** Resolves with how the child ended, also when it could not be started at all. */
function waitForExit(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    const say = () => resolve(child.signalCode ?? `exit code ${child.exitCode}`);
    if (child.exitCode !== null || child.signalCode !== null) return say();
    child.once('exit', say);
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (child.pid === undefined) resolve(error.code ?? error.message);
    });
  });
}
