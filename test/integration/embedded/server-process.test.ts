import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { type ServerProgram, startServerProcess } from '../../../src/embedded/processes/server-process.ts';
import { isGone, createTemporaryFolder } from './setup.ts';

/** A shell script as a server; it is ready with its first line of output. */
function program(script: string, more: Partial<ServerProgram> = {}): ServerProgram {
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

test('the end of a process is reported with its exit code or signal', async () => {
  const ended = await startServerProcess(program('echo ready; exit 3'), undefined);
  expect(await ended.ended).toBe('exit code 3');
  const killed = await startServerProcess(program('echo ready; exec sleep 60'), undefined);
  onTestFinished(() => killed.stop());
  killed.kill();
  expect(await killed.ended).toBe('SIGKILL');
});

test('a process that ignores the stop signal is killed', async () => {
  const deaf = program('trap "" TERM; echo ready; while :; do sleep 0.05; done', { stopTimeoutMs: 50 });
  const running = await startServerProcess(deaf, undefined);
  const pid = running.pid ?? 0;
  await running.stop();
  expect(isGone(pid)).toBe(true);
});

test('a server ends with its last client before it is told to drop them', async () => {
  const script = (onDrain: string) => `trap "${onDrain}" USR1; echo ready; while :; do sleep 0.05; done`;
  const start = (onDrain: string, stopTimeoutMs: number) =>
    startServerProcess(program(script(onDrain), { drainSignal: 'SIGUSR1', stopTimeoutMs }), undefined);
  const drained = await start('exit 0', 60_000);
  await drained.stop();
  expect(await drained.ended).toBe('exit code 0');
  const keptOpen = await start('', 500);
  await keptOpen.stop();
  expect(await keptOpen.ended).toBe('SIGTERM');
});

test('a process that never gets ready fails in one line, and no process is left running', async () => {
  const pids: number[] = [];
  const noting = (made: ServerProgram): ServerProgram => ({
    ...made,
    spawn: () => {
      const child = made.spawn();
      pids.push(child.pid ?? 0);
      return child;
    },
  });
  const start = (made: ServerProgram, signal?: AbortSignal) => startServerProcess(noting(made), signal);
  await expect(start(program('exit 3'))).rejects.toThrow('part: ended before it was ready (exit code 3)');
  await expect(start(program('exec sleep 60', { readyTimeoutMs: 20 }))).rejects.toThrow(
    'part: not ready after 0.02 s',
  );
  const stopped = new AbortController();
  const starting = start(program('exec sleep 60'), stopped.signal);
  stopped.abort();
  await expect(starting).rejects.toThrow('stopped while starting');
  const missing = program('', {
    spawn: () => spawn('/nowhere/program', { stdio: ['ignore', 'pipe', 'ignore'] }),
  });
  await expect(start(missing)).rejects.toThrow('part: ended before it was ready (ENOENT)');
  expect(pids).toHaveLength(4);
  expect(pids.every(isGone)).toBe(true);
});
