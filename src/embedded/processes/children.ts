import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { LauncherError } from '../launcher-error.ts';
import { type LastLines, readLastLines } from './last-lines.ts';
import { type Part, type Supervised, supervise } from './supervise.ts';
import { forgetProcess, recordProcess } from './run-record.ts';
import type { Environment } from '../settings.ts';

export interface ChildOptions {
  name: string;
  entry: string;
  dataDir: string;
  env: Environment;
  stopTimeoutMs: number;
  report: (line: string) => void;
  signal: AbortSignal;
  backOff?: NonNullable<Part['backOff']>;
}

/**
 * Starts the API or the worker as a child process and keeps it running. The entry sends `{ type: 'ready' }` over IPC when it is ready. It
 * stops on SIGTERM, and when the IPC channel closes because the launcher was killed.
 * @throws {LauncherError} when the first start fails.
 */
export function startChild(options: ChildOptions): Promise<Supervised> {
  let lastLines: LastLines = async () => '';
  return supervise(
    {
      name: options.name,
      dataDir: options.dataDir,
      spawn() {
        const child = forkEntry(options);
        lastLines = readLastLines(child);
        return child;
      },
      explain: async (result) => `ended before it was ready (${result})${await lastLines()}`,
      ready: waitForReadyMessage,
      readyTimeoutMs: 30_000,
      stopTimeoutMs: options.stopTimeoutMs,
      ...(options.backOff && { backOff: options.backOff }),
    },
    options,
  );
}

/**
 * Runs the migrations and waits for their end.
 * @throws {LauncherError} when they fail.
 */
export async function runToEnd(
  options: Pick<ChildOptions, 'name' | 'entry' | 'dataDir' | 'env' | 'signal'>,
): Promise<void> {
  options.signal.throwIfAborted();
  const child = forkEntry(options, 'ignore');
  const lastLines = readLastLines(child);
  if (child.pid !== undefined) recordProcess(options.dataDir, options.name, child.pid);
  const stop = () => child.kill('SIGTERM');
  options.signal.addEventListener('abort', stop);
  const result = await new Promise<number | string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'killed'));
  });
  options.signal.removeEventListener('abort', stop);
  forgetProcess(options.dataDir, options.name);
  if (result !== 0) throw new LauncherError(`${options.name} failed (${result})${await lastLines()}`);
}

/** The output of a child goes to stderr, because stdout has only the lines of the launcher. */
function forkEntry(
  { entry, env }: Pick<ChildOptions, 'entry' | 'env'>,
  stdout: 2 | 'ignore' = 2,
): ChildProcess {
  if (!existsSync(entry)) throw new LauncherError(`${entry} is missing; run npm run build`);
  return fork(entry, [], {
    env,
    detached: true, // only the launcher receives Ctrl-C, and stops the parts in order
    execArgv: [],
    stdio: ['ignore', stdout, 'pipe', 'ipc'],
  });
}

function waitForReadyMessage(child: ChildProcess, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const onMessage = (message: unknown) => {
      const isReady =
        typeof message === 'object' && message !== null && 'type' in message && message.type === 'ready';
      if (isReady) resolve();
    };
    child.on('message', onMessage);
    signal.addEventListener('abort', () => child.off('message', onMessage), { once: true });
  });
}
