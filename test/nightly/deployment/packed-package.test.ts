import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../support/free-port.ts';
import { waitUntil } from '../../../src/shared/wait-until.ts';
import { createEmptyFolder } from './empty-folder.ts';

const root = join(import.meta.dirname, '../../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Packs the service as a release does. Returns the path of the file. */
async function pack(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ams-pack-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await promisify(execFile)('npm', ['pack', '--pack-destination', folder], { cwd: root });
  return join(folder, `agent-messaging-service-${version}.tgz`);
}

test('the packed service runs in an empty folder as an ordinary user, and its command line finds it', async () => {
  const user = await createEmptyFolder();
  await copyFile(await pack(), join(user.folder, 'service.tgz'));
  await user.run('npm', ['install', '--no-audit', '--no-fund', './service.tgz']);
  const ams = (...args: string[]) => user.run('npx', ['--no-install', 'ams', ...args]);
  expect(await ams('--version')).toBe(`${version}\n`);

  const port = await findFreePort();
  const service = user.start('npx', ['--no-install', 'agent-messaging-service', 'start'], {
    PORT: String(port),
  });
  const isReady = () => service.hasEnded() || /^ready /m.test(service.output.text);
  expect(await waitUntil(isReady, { timeoutMs: 120_000 }), service.output.errors).toBe(true);
  expect(service.hasEnded(), service.output.errors).toBe(false);

  await ams('agent', 'create', 'ada.writer', '--create-owner');
  const { access_token } = JSON.parse(await ams('token', 'ada.writer', '--json'));
  const response = await fetch(`http://127.0.0.1:${port}/v1/agents/me`, {
    headers: { authorization: `Bearer ${access_token}` },
  });
  expect(await response.json()).toMatchObject({ canonical_handle: 'ada.writer' });
  expect(await (await fetch(`http://127.0.0.1:${port}/v1/meta`)).json()).toMatchObject({ version });
  expect(JSON.parse(await ams('doctor', '--json'))).toMatchObject({ ok: true });

  await service.interrupt();
  expect(service.output.text).toMatch(/\nstopped\n$/);
  await expect(ams('agent', 'create', 'bob.reader')).rejects.toThrow(/no service was found/);
});
