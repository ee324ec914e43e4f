import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, test, vi } from 'vitest';
import { readIfExists } from '../../../src/embedded/private-file.ts';
import {
  readEvents,
  waitUntil,
  isGone,
  noPostgres,
  createTemporaryFolder,
  readPostgresPid,
  runFakeLauncher,
} from './setup.ts';
import { isNightly } from '../../support/extent.ts';

// Real servers on a busy machine: a test that hangs still ends.
vi.setConfig({ testTimeout: 40_000 });

test('starts every part, logs it, passes the settings on, and stops in order on Ctrl-C', async () => {
  const dataDir = createTemporaryFolder();
  const launcher = runFakeLauncher(dataDir);
  await launcher.ready();

  const lines = launcher.out().trimEnd().split('\n');
  expect(lines.map((line) => line.split(' ')[0])).toEqual(
    'postgres queue blobs schema api worker ready'.split(' '),
  );
  const publicUrl = lines.at(-1)?.replace('ready ', '') ?? '';
  const serviceFile = join(dataDir, 'service.env');
  const service = parseEnv(readFileSync(serviceFile, 'utf8'));
  expect(service['PUBLIC_URL']).toBe(publicUrl);
  expect(service['REDIS_URL']).toBeUndefined();
  expect(statSync(serviceFile).mode & 0o777).toBe(0o600);
  expect(statSync(join(dataDir, 'secrets.json')).mode & 0o777).toBe(0o600);
  const answer = await fetch(publicUrl.replace('localhost', '127.0.0.1'));
  expect(parseEnv(await answer.text()), 'the file is written before the API listens').toEqual(service);

  const server = readPostgresPid(dataDir);
  launcher.child.kill('SIGINT');
  launcher.child.kill('SIGINT'); // npm hands the same Ctrl-C on once more
  expect(await launcher.exited).toEqual({ code: 0, signal: null });
  expect(readEvents(dataDir).map(({ event }) => event)).toEqual([
    'migrate ran',
    'api started',
    'worker started',
    'api stopped',
    'worker stopped',
  ]);
  expect(isGone(server)).toBe(true);
  expect(readIfExists(serviceFile)).toBeNull();
  expect(readIfExists(join(dataDir, 'launcher.lock'))).toBeNull();
  expect(launcher.err()).toBe('');
  expect(launcher.out().trimEnd().split('\n').slice(lines.length)).toEqual(['stopped']);
});

if (isNightly) {
  test('API and worker stop by themselves after kill -9, and the next start takes over', async () => {
    const dataDir = createTemporaryFolder();
    const first = runFakeLauncher(dataDir);
    await first.ready();
    const server = readPostgresPid(dataDir);
    const port = /postgres .*:(\d+),/.exec(first.out())?.[1];
    first.child.kill('SIGKILL');
    await first.exited;
    await waitUntil(
      'both noticed',
      () => readEvents(dataDir).filter(({ event }) => /orphaned/.test(event)).length === 2,
    );
    expect(isGone(server)).toBe(false);

    const second = runFakeLauncher(dataDir);
    await second.ready();
    expect(isGone(server)).toBe(true);
    expect(readPostgresPid(dataDir)).not.toBe(server);
    expect(/postgres .*:(\d+),/.exec(second.out())?.[1]).toBe(port);
  });

  test('a part that cannot start is reported with its last lines', async () => {
    const reports = {
      migrate: 'migrate failed (1): cannot migrate: as told',
      api: 'api: ended before it was ready (exit code 3): the fixture fails as told',
      worker: 'worker: ended before it was ready (exit code 3): the fixture fails as told',
    };
    for (const [part, report] of Object.entries(reports)) {
      const dataDir = createTemporaryFolder();
      writeFileSync(join(dataDir, `${part}.fails`), '');
      const launcher = runFakeLauncher(dataDir, noPostgres);
      expect((await launcher.exited).code).toBe(1);
      expect(launcher.err().trimEnd().split('\n').at(-1)).toBe(report);
    }
  });
}
