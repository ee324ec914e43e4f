import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '../../shared/timeout.ts';
import { LauncherError } from '../launcher-error.ts';
import { forgetProcess, recordProcess } from './run-record.ts';

export interface ServerProgram {
  name: string;
  dataDir: string;
  spawn: () => ChildProcess;
  /** Resolves when the server is ready. `signal` aborts when the caller stops waiting. */
  ready: (child: ChildProcess, signal: AbortSignal) => Promise<void>;
  /** The reason why it ended before it was ready, as one line. */
  explain?: () => string | null;
  readyTimeoutMs: number;
  /** Before `killSignal`. */
  stopTimeoutMs: number;
  /** Asks the server to end once its clients have left. `stopSignal` follows after half of the timeout. */
  drainSignal?: NodeJS.Signals;
  stopSignal?: NodeJS.Signals;
  killSignal?: NodeJS.Signals;
}

export interface ServerProcess {
  readonly pid: number | undefined;
  /** Resolves with the signal or exit code when the process has ended. */
  ended: Promise<string>;
  /** Sends the stop signal, kills after the timeout, and resolves when the process has ended. */
  stop: () => Promise<void>;
  /** Kills the process immediately. */
  kill: () => void;
}

const notReadyError = (program: ServerProgram, reason: string) =>
  new LauncherError(`${program.name}: ${reason}`);

/**
 * Starts a server as a child process. Resolves when it is ready.
 * @throws {LauncherError} when it does not start, or `signal` aborts it; nothing is left running then.
 */
export async function startServerProcess(
  program: ServerProgram,
  signal: AbortSignal | undefined,
): Promise<ServerProcess> {
  signal?.throwIfAborted();
  const child = program.spawn();
  const waiting = new AbortController();
  const ended = waitForExit(child);
  if (child.pid !== undefined) recordProcess(program.dataDir, program.name, child.pid);
  try {
    await Promise.race([
      program.ready(child, waiting.signal),
      ended.then((result) => {
        throw notReadyError(program, program.explain?.() ?? `ended before it was ready (${result})`);
      }),
      sleep(program.readyTimeoutMs, undefined, { signal: waiting.signal }).then(() => {
        throw notReadyError(program, `not ready after ${program.readyTimeoutMs / 1000} s`);
      }),
      rejectOnAbort(signal, waiting.signal),
    ]);
  } catch (error) {
    await stopProcess(program, child);
    throw error;
  } finally {
    waiting.abort();
  }
  return {
    pid: child.pid,
    ended,
    stop: () => stopProcess(program, child),
    kill: () => void child.kill(program.killSignal ?? 'SIGKILL'),
  };
}

function rejectOnAbort(signal: AbortSignal | undefined, until: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(new LauncherError('stopped while starting')), {
      once: true,
      signal: until,
    });
  });
}

async function stopProcess(program: ServerProgram, child: ChildProcess): Promise<void> {
  const { drainSignal, stopSignal = 'SIGTERM', killSignal = 'SIGKILL', stopTimeoutMs } = program;
  const exited = waitForExit(child);
  async function signal(name: NodeJS.Signals, timeoutMs: number): Promise<void> {
    if (!isRunning(child)) return;
    child.kill(name);
    await withTimeout(timeoutMs, exited, () => 'running');
  }
  const drainTimeoutMs = drainSignal === undefined ? 0 : stopTimeoutMs / 2;
  if (drainSignal !== undefined) await signal(drainSignal, drainTimeoutMs);
  await signal(stopSignal, stopTimeoutMs - drainTimeoutMs);
  if (isRunning(child)) child.kill(killSignal);
  if (child.pid !== undefined) await exited;
  forgetProcess(program.dataDir, program.name);
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
