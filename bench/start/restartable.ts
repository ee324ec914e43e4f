import type { ChildProcess } from 'node:child_process';
import { waitUntil } from '../../src/shared/wait-until.ts';
import { startGuard } from '../../scripts/parts/cleanup-guard.ts';
import { type Bench, watchProcess } from './service.ts';

/** A server that can be killed and started again with the same data. */
export interface Restartable {
  readonly pid: number;
  /** Ends it with SIGKILL. */
  kill9(): Promise<void>;
  restart(): Promise<void>;
}

const timeoutMs = 60_000;

/** Starts a server and waits until it is ready. Its exit is a failure unless `kill9` ended it. */
export async function startRestartable(
  bench: Bench,
  name: string,
  launch: () => ChildProcess,
  isReady: () => Promise<unknown>,
): Promise<Restartable> {
  let pid = 0;
  let kill = () => Promise.resolve();
  async function restart(): Promise<void> {
    const child = launch();
    kill = watchProcess(bench, name, child);
    pid = child.pid ?? 0;
    // Unlike the programs of this project, it does not notice that the benchmark was killed.
    const guard = startGuard('kill -KILL "$1"', String(pid));
    child.once('exit', () => guard.kill('SIGKILL'));
    const check = () =>
      isReady().then(
        () => true,
        () => false,
      );
    if (await waitUntil(check, { timeoutMs, intervalMs: 50, signal: bench.signal })) return;
    throw new Error(`${name} is not ready after ${timeoutMs / 1_000} s`);
  }
  await restart();
  return {
    get pid() {
      return pid;
    },
    kill9: () => kill(),
    restart,
  };
}
