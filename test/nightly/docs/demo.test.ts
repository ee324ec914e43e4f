import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startFaultyS3 } from '../../support/servers/faulty-s3.ts';
import { createFolder, stopAfterTest } from '../../support/use.ts';

const root = resolve(import.meta.dirname, '../../..');

test('npm run demo succeeds, and leaves the bucket of the settings alone', async () => {
  const store = stopAfterTest(await startFaultyS3());
  const key = `attachments/${'ab'.repeat(16)}`;
  store.objects.set(key, { bytes: Buffer.from('a file of another service'), at: 0 });
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/run.mjs', 'demo'], {
    cwd: root,
    env: { PATH: process.env['PATH'], ...store.env, DATA_DIR: await createFolder() },
  });
  expect(stdout.match(/^ok /gm)).toHaveLength(16);
  expect(stdout).toContain('all steps succeeded');
  expect([...store.objects.keys()]).toEqual([key]);
});
