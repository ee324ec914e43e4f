import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { type Part, supervise } from '../../../src/embedded/processes/supervise.ts';
import { waitUntil, isGone, createTemporaryFolder } from './setup.ts';

/** A shell script as a part; it is ready with its first line of output. */
function part(script: string, more: Partial<Part> = {}): Part {
  return {
    name: 'part',
    dataDir: createTemporaryFolder(),
    spawn: () => spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] }),
    ready: async (child: ChildProcess) => {
      if (child.stdout) await once(child.stdout, 'data');
    },
    readyTimeoutMs: 5000,
    stopTimeoutMs: 5000,
    ...more,
  };
}

const delays = (reports: string[]) =>
  reports.flatMap((line) => /restarting in (\d+) ms/.exec(line)?.[1] ?? []).map(Number);

async function reportsOf(settled: number): Promise<number[]> {
  const reports: string[] = [];
  const backOff = { initialMs: 5, maxMs: 20, resetAfterMs: settled };
  const running = await supervise(part('echo ready; read line', { backOff }), {
    report: (line) => reports.push(line),
  });
  onTestFinished(() => running.stop());
  await waitUntil('it died five times', () => delays(reports).length >= 5);
  await running.stop();
  return delays(reports).slice(0, 5);
}

test('a process that keeps crashing is restarted after increasing delays, up to a limit', async () => {
  expect(await reportsOf(60_000)).toEqual([5, 10, 20, 20, 20]);
});

test('a process that ran long enough is restarted after the shortest delay', async () => {
  expect(await reportsOf(0)).toEqual([5, 5, 5, 5, 5]);
});

test('a process that ignores the stop signal is killed', async () => {
  const deaf = part('trap "" TERM; echo ready; while :; do sleep 0.05; done', { stopTimeoutMs: 50 });
  const running = await supervise(deaf, { report: () => {} });
  const pid = running.pid ?? 0;
  await running.stop();
  expect(isGone(pid)).toBe(true);
});

test('a process that never gets ready fails in one line, and no process is left running', async () => {
  const pids: number[] = [];
  const noting = (made: Part): Part => ({
    ...made,
    spawn: () => {
      const child = made.spawn();
      pids.push(child.pid ?? 0);
      return child;
    },
  });
  const start = (made: Part, signal?: AbortSignal) =>
    supervise(noting(made), { report: () => {}, ...(signal && { signal }) });
  await expect(start(part('exit 3'))).rejects.toThrow('part: ended before it was ready (exit code 3)');
  await expect(start(part('exec sleep 60', { readyTimeoutMs: 20 }))).rejects.toThrow(
    'part: not ready after 0.02 s',
  );
  const stopped = new AbortController();
  const starting = start(part('exec sleep 60'), stopped.signal);
  stopped.abort();
  await expect(starting).rejects.toThrow('stopped while starting');
  const missing = part('', {
    spawn: () => spawn('/nowhere/program', { stdio: ['ignore', 'pipe', 'ignore'] }),
  });
  await expect(start(missing)).rejects.toThrow('part: ended before it was ready (ENOENT)');
  expect(pids).toHaveLength(4);
  expect(pids.every(isGone)).toBe(true);
});
