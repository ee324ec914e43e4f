import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { LauncherError, oneLine } from './launcher-error.ts';
import { forgetProcess, noteProcess } from './run-record.ts';

export interface Part {
  name: string;
  dataDir: string;
  spawn: () => ChildProcess;
  /** Resolves when the child can be used. `signal` aborts when nobody waits any more. */
  ready: (child: ChildProcess, signal: AbortSignal) => Promise<void>;
  /** Why it ended, from its own log, as one line. */
  explain?: () => string | null;
  readyWithin: number;
  stopWithin: number;
  polite?: NodeJS.Signals;
  hard?: NodeJS.Signals;
  backOff?: { first: number; most: number; settled: number };
}

export interface Supervised {
  readonly pid: number | undefined;
  /** Asks politely, kills after `stopWithin` ms, resolves when it is gone. */
  stop: () => Promise<void>;
  /** Kills at once. */
  kill: () => void;
}

const neverReady = (part: Part, reason: string) => new LauncherError(`${part.name}: ${reason}`);

/**
 * Starts a child process and keeps it alive: when it dies it is reported and started again, waiting longer each time
 * (250 ms, doubling up to 10 s; from the beginning once it stayed up for 30 s). All times in ms.
 * @throws {LauncherError} when the first start fails or `signal` aborts it; nothing is left running then.
 */
export async function supervise(
  part: Part,
  options: { report: (line: string) => void; signal?: AbortSignal; restart?: boolean },
): Promise<Supervised> {
  const backOff = part.backOff ?? { first: 250, most: 10_000, settled: 30_000 };
  const over = new AbortController();
  let child = await begin(part, options.signal);

  const keepAlive = async () => {
    let delay = backOff.first;
    while (!over.signal.aborted) {
      const since = Date.now();
      const how = await ended(child);
      if (over.signal.aborted) return;
      if (Date.now() - since >= backOff.settled) delay = backOff.first;
      options.report(`${part.name} ended (${how}); it is started again in ${delay} ms`);
      while (!(await again(delay))) {
        if (over.signal.aborted) return;
        delay = Math.min(delay * 2, backOff.most);
      }
      options.report(`${part.name} is back`);
      delay = Math.min(delay * 2, backOff.most);
    }
  };
  const again = async (delay: number): Promise<boolean> => {
    try {
      await sleep(delay, undefined, { signal: over.signal });
      child = await begin(part, over.signal);
      return true;
    } catch (error) {
      if (!over.signal.aborted) options.report(oneLine(error));
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
      await end(part, child);
      await kept;
      await end(part, child); // a restart may just have succeeded
    },
    kill: () => {
      over.abort();
      child.kill(part.hard ?? 'SIGKILL');
    },
  };
}

/** One start: resolves with a child that is ready. */
async function begin(part: Part, signal: AbortSignal | undefined): Promise<ChildProcess> {
  signal?.throwIfAborted();
  const child = part.spawn();
  const waiting = new AbortController();
  const fate = ended(child);
  if (child.pid !== undefined) noteProcess(part.dataDir, part.name, child.pid);
  try {
    await Promise.race([
      part.ready(child, waiting.signal),
      fate.then((how) => {
        throw neverReady(part, part.explain?.() ?? `ended before it was ready (${how})`);
      }),
      sleep(part.readyWithin, undefined, { signal: waiting.signal }).then(() => {
        throw neverReady(part, `not ready after ${part.readyWithin / 1000} s`);
      }),
      aborted(signal, waiting.signal),
    ]);
    return child;
  } catch (error) {
    await end(part, child);
    throw error;
  } finally {
    waiting.abort();
  }
}

function aborted(signal: AbortSignal | undefined, until: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(new LauncherError('stopped while starting')), {
      once: true,
      signal: until,
    });
  });
}

async function end(part: Part, child: ChildProcess): Promise<void> {
  if (isRunning(child)) {
    const gone = ended(child);
    const limit = new AbortController();
    child.kill(part.polite ?? 'SIGTERM');
    const hard = sleep(part.stopWithin, undefined, { signal: limit.signal }).then(
      () => child.kill(part.hard ?? 'SIGKILL'),
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
function ended(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    const say = () => resolve(child.signalCode ?? `exit code ${child.exitCode}`);
    if (child.exitCode !== null || child.signalCode !== null) return say();
    child.once('exit', say);
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (child.pid === undefined) resolve(error.code ?? error.message);
    });
  });
}
