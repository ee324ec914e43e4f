import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readIfExists } from '../../src/embedded/private-file.ts';
import {
  waitUntil,
  isGone,
  createTemporaryFolder,
  readPostgresPid,
  runLauncher,
} from '../integration/embedded/setup.ts';

test('a second launcher on the same folder is refused and does not disturb the first', async () => {
  const dataDir = createTemporaryFolder();
  const first = runLauncher(dataDir);
  await first.ready();
  const second = runLauncher(dataDir);
  expect((await second.exited).code).toBe(1);
  expect(second.err()).toMatch(/^.* is in use by another service \(process \d+\); .*DATA_DIR\n$/);
  expect(second.out()).toBe('');
  expect(isGone(readPostgresPid(dataDir))).toBe(false);
});

test('a port in use is reported in one line, before anything is started', async () => {
  const dataDir = createTemporaryFolder();
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const launcher = runLauncher(dataDir, { PORT: String(port) });
  expect((await launcher.exited).code).toBe(1);
  taken.close();
  expect(launcher.err()).toMatch(new RegExp(`^PORT: ${port} on 127.0.0.1 is taken; choose another, .*\n$`));
  expect(launcher.out()).toBe('');
  expect(readIfExists(join(dataDir, 'secrets.json'))).toBeNull();
});

test('an invalid setting is reported in one line', async () => {
  const launcher = runLauncher(createTemporaryFolder(), { PORT: 'many' });
  expect((await launcher.exited).code).toBe(1);
  expect(launcher.err()).toMatch(/^PORT: .*\n$/);
});

test('a server that ends stops everything, with one line', async () => {
  const dataDir = createTemporaryFolder();
  const launcher = runLauncher(dataDir);
  await launcher.ready();
  process.kill(readPostgresPid(dataDir), 'SIGKILL');
  expect((await launcher.exited).code).toBe(1);
  expect(launcher.err()).toMatch(/\npostgres ended \(SIGKILL\)\n$/);
  expect(readIfExists(join(dataDir, 'launcher.lock'))).toBeNull();
});

test('failing migrations or a failing API stop the start with one line, and no process is left', async () => {
  const unreachable = { DATABASE_URL: 'postgres://127.0.0.1:1/unused' };
  const failures: [Record<string, string>, RegExp][] = [
    [unreachable, /^cannot migrate: connect ECONNREFUSED 127.0.0.1:1\n$/],
    [{ OPS_PORT: '1', OPS_HOST: '192.0.2.1' }, /EADDRNOTAVAIL|EACCES.*\n$/],
  ];
  for (const [env, line] of failures) {
    const dataDir = createTemporaryFolder();
    const launcher = runLauncher(dataDir, env);
    expect((await launcher.exited).code).toBe(1);
    expect(launcher.err()).toMatch(line);
    expect(launcher.err()).not.toMatch(/\n\s+at /);
    expect(readIfExists(join(dataDir, 'postgres', 'postmaster.pid'))).toBeNull();
    expect(readIfExists(join(dataDir, 'launcher.lock'))).toBeNull();
  }
});

test('a second Ctrl-C kills what does not stop', async () => {
  const dataDir = createTemporaryFolder();
  const launcher = runLauncher(dataDir);
  await launcher.ready();
  const server = readPostgresPid(dataDir);
  process.kill(server, 'SIGSTOP');
  launcher.child.kill('SIGINT');
  // The second signal counts once half a second has passed since the first.
  const again = setInterval(() => launcher.child.kill('SIGINT'), 100);
  expect((await launcher.exited).code).toBe(130);
  clearInterval(again);
  process.kill(server, 'SIGCONT');
  await waitUntil('it is gone', () => isGone(server));
});
