import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { readIfExists } from '../../src/embedded/private-file.ts';
import {
  readEvents,
  waitUntil,
  isGone,
  noPostgres,
  createTemporaryFolder,
  runFakeLauncher,
} from '../integration/embedded/setup.ts';

// Real servers on a busy machine: a test that hangs still ends.
vi.setConfig({ testTimeout: 40_000 });

test('a second launcher on the same folder is refused and does not disturb the first', async () => {
  const dataDir = createTemporaryFolder();
  const first = runFakeLauncher(dataDir, noPostgres);
  await first.ready();
  const second = runFakeLauncher(dataDir, noPostgres);
  expect((await second.exited).code).toBe(1);
  expect(second.err()).toMatch(/^.* is in use by another service \(process \d+\); .*DATA_DIR\n$/);
  expect(second.out()).toBe('');
  expect(readEvents(dataDir).every(({ event, pid }) => event === 'migrate ran' || !isGone(pid))).toBe(true);
});

test('a port in use is reported in one line, before anything is started', async () => {
  const dataDir = createTemporaryFolder();
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const launcher = runFakeLauncher(dataDir, { PORT: String(port) });
  expect((await launcher.exited).code).toBe(1);
  taken.close();
  expect(launcher.err()).toMatch(new RegExp(`^PORT: ${port} on 127.0.0.1 is taken; choose another, .*\n$`));
  expect(launcher.out()).toBe('');
  expect(readEvents(dataDir)).toEqual([]);
  expect(readIfExists(join(dataDir, 'secrets.json'))).toBeNull();
});

test('an invalid setting is reported in one line', async () => {
  const launcher = runFakeLauncher(createTemporaryFolder(), { PORT: 'many' });
  expect((await launcher.exited).code).toBe(1);
  expect(launcher.err()).toMatch(/^PORT: .*\n$/);
});

test('an API that crashes is reported and restarted', async () => {
  const dataDir = createTemporaryFolder();
  const launcher = runFakeLauncher(dataDir, noPostgres);
  await launcher.ready();
  const apis = () => readEvents(dataDir).filter(({ event }) => event === 'api started');
  process.kill(apis()[0]?.pid ?? 0, 'SIGKILL');
  await waitUntil('it is back', () => launcher.err().includes('api is running again'));
  expect(launcher.err()).toContain('api ended (SIGKILL); restarting in 250 ms');
  expect(apis()).toHaveLength(2);
});

test('failing migrations or a failing API stop the start with one line, and no process is left', async () => {
  for (const part of ['migrate', 'api']) {
    const dataDir = createTemporaryFolder();
    writeFileSync(join(dataDir, `${part}.fails`), '');
    const launcher = runFakeLauncher(dataDir, part === 'api' ? noPostgres : {});
    expect((await launcher.exited).code).toBe(1);
    expect(launcher.err()).toMatch(new RegExp(`${part}.*(failed|ended before it was ready).*\n$`));
    expect(launcher.err()).not.toMatch(/\n\s+at /);
    expect(readIfExists(join(dataDir, 'postgres', 'postmaster.pid'))).toBeNull();
    expect(readIfExists(join(dataDir, 'launcher.lock'))).toBeNull();
  }
});

test('a second Ctrl-C kills what does not stop', async () => {
  const dataDir = createTemporaryFolder();
  writeFileSync(join(dataDir, 'api.ignores-sigterm'), '');
  const launcher = runFakeLauncher(dataDir, noPostgres);
  await launcher.ready();
  launcher.child.kill('SIGINT');
  // The second signal counts once half a second has passed since the first.
  const again = setInterval(() => launcher.child.kill('SIGINT'), 100);
  expect((await launcher.exited).code).toBe(130);
  clearInterval(again);
  await waitUntil('all gone', () => readEvents(dataDir).every(({ pid }) => isGone(pid)));
});
