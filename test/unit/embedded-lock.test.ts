import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { takeLock } from '../../src/embedded/processes/lock.ts';
import { inspectProcess, isAlive } from '../../src/embedded/processes/identity.ts';

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ams-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('a lock has one holder at a time, and leaves no file', () => {
  const folder = ownFolder();
  const release = takeLock(folder);
  expect(() => takeLock(folder)).toThrow(`in use by another service (process ${process.pid})`);
  release();
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  ['of a process that is gone', { pid: 2 ** 22 + 1, started: 'long ago' }],
  ['whose pid another process has now', { pid: process.pid, started: 'long ago' }],
  ['that is damaged', 'half a li'],
])('a lock %s is taken over', (_what, content) => {
  const folder = ownFolder();
  writeFileSync(join(folder, 'launcher.lock'), JSON.stringify(content));
  const release = takeLock(folder);
  expect(readdirSync(folder)).toEqual(['launcher.lock']);
  release();
});

test('a process is identified by pid and start time', () => {
  const self = inspectProcess(process.pid);
  expect(self).toMatchObject({ pid: process.pid, uid: process.getuid?.() });
  expect(self?.command).toContain('node');
  expect(isAlive({ pid: process.pid, started: self?.started ?? '' })).toBe(true);
  expect(isAlive({ pid: process.pid, started: 'long ago' })).toBe(false);
  expect(inspectProcess(Number.NaN)).toBeNull();
});
