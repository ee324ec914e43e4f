import { fork } from 'node:child_process';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';

vi.setConfig({ testTimeout: 150_000 });

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

test('the help describes the options, and an invalid option is an error in one line', async () => {
  const help = await runChaos('--help');
  expect([help.status, help.err]).toEqual([0, '']);
  expect(help.out).toMatch(/^npm run chaos: /);
  const wrong = await runChaos('--seconds', '1000');
  expect([wrong.status, wrong.out]).toEqual([1, '']);
  expect(wrong.err).toBe('--seconds: must be a whole number from 1 to 120\n');
});
