import { fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { createFolder } from '../support/use.ts';

const program = resolve(import.meta.dirname, '../../dist/chaos/main.js');

/** `npm run chaos` from the build. It ends with the test process. */
async function runChaos(...args: string[]) {
  const child = fork(program, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], execArgv: [] });
  const ended = new Promise<number | string | null>((done) => {
    child.once('exit', (code, signal) => done(code ?? signal));
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  if (!child.stdout || !child.stderr) throw new Error('no output');
  const [status, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { status, out, err };
}

test('a short chaos run finds no losses, no duplicates and one order', async () => {
  const { status, out, err } = await runChaos('--seconds', '8', '--seed', '5', '--json');
  expect(status, err).toBe(0);
  const figures = JSON.parse(out);
  expect(figures).toMatchObject({ seed: 5, flaws: {} });
  expect(figures.acknowledged).toBeGreaterThan(20);
  const seen = Object.values<number>(figures.events_seen);
  expect(Math.min(...seen), 'every transport').toBeGreaterThan(20);
  const { REST, tool, call } = figures.leases;
  expect(Math.min(REST, tool, call), 'leases over every transport').toBeGreaterThan(0);
  expect(Math.min(figures.a2a_tasks, figures.a2a_streams), 'A2A').toBeGreaterThan(0);
  expect(Object.keys(figures.faults).length, err).toBeGreaterThanOrEqual(2);
});

test('rounds continue on the data of an earlier run', async () => {
  const folder = await createFolder();
  const run = async (rounds: number) => {
    const base = ['--folder', folder, '--rounds', String(rounds), '--seconds', '3', '--seed', '6'];
    const { status, out, err } = await runChaos(...base, '--json');
    expect(status, err).toBe(0);
    return JSON.parse(out).rounds;
  };
  const [first] = await run(1);
  const [again, second, ...others] = await run(2);
  expect(again).toEqual(first);
  expect(second).toMatchObject({ round: 2, seed: 7, outbox: 0 });
  expect(others).toEqual([]);
  expect(second.messages).toBeGreaterThan(first.messages);
  expect(await readFile(join(folder, 'rounds.svg'), 'utf8')).toMatch(/^<svg /);
});

test('the help describes the options, and an invalid option is an error in one line', async () => {
  const help = await runChaos('--help');
  expect([help.status, help.err]).toEqual([0, '']);
  expect(help.out).toMatch(/^npm run chaos: /);
  const wrong = await runChaos('--seconds', '1000');
  expect([wrong.status, wrong.out]).toEqual([1, '']);
  expect(wrong.err).toBe('--seconds: must be a whole number from 1 to 120\n');
});
