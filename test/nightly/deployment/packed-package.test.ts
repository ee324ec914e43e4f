import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { findFreePort } from '../../support/free-port.ts';
import { waitUntil } from '../../../src/shared/wait-until.ts';
import { createEmptyFolder } from './empty-folder.ts';
import { createFolder } from '../../support/use.ts';

// The package is built, packed and installed first.
vi.setConfig({ testTimeout: 400_000 });

const root = join(import.meta.dirname, '../../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Packs the service as a release does. Returns the path of the file. */
async function pack(): Promise<string> {
  const folder = await createFolder();
  await promisify(execFile)('npm', ['pack', '--pack-destination', folder], { cwd: root });
  return join(folder, `agent-messaging-service-${version}.tgz`);
}

type Folder = Awaited<ReturnType<typeof createEmptyFolder>>;

/** Starts the installed service, and waits until it is ready. */
async function startInstalled(user: Folder, port: number) {
  const service = user.start('npx', ['--no-install', 'agent-messaging-service', 'start'], {
    PORT: String(port),
  });
  const isReady = () => service.hasEnded() || /^ready /m.test(service.output.text);
  expect(await waitUntil(isReady, { timeoutMs: 120_000 }), service.output.errors).toBe(true);
  expect(service.hasEnded(), service.output.errors).toBe(false);
  return service;
}

test('a new operator installs the packed service as an ordinary user, sends a message, and finds it after a restart', async () => {
  const user = await createEmptyFolder();
  await copyFile(await pack(), join(user.folder, 'service.tgz'));
  await user.run('npm', ['install', '--no-audit', '--no-fund', './service.tgz']);
  const ams = (...args: string[]) => user.run('npx', ['--no-install', 'ams', ...args]);
  expect(await ams('--version')).toBe(`${version}\n`);

  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const service = await startInstalled(user, port);
  await ams('agent', 'create', 'ada.writer', '--create-owner');
  await ams('agent', 'create', 'bob.reader', '--create-owner', '--inbound-policy', 'open');
  const call = async (handle: string, path: string, body?: object) => {
    const { access_token } = JSON.parse(await ams('token', handle, '--json'));
    const response = await fetch(`${url}/v1/${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${access_token}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.ok, path).toBe(true);
    return response.json();
  };
  expect(await call('ada.writer', 'meta')).toMatchObject({ version });
  const sent = await call('ada.writer', 'threads', { with_handle: 'bob.reader', initial_message: 'Hello' });
  const page = await fetch(url, { headers: { accept: 'text/html' } });
  expect(page.headers.get('content-type')).toContain('text/html');
  expect(await page.text()).toContain('Sign in');
  expect(JSON.parse(await ams('doctor', '--json'))).toMatchObject({ ok: true });
  await service.interrupt();
  expect(service.output.text).toMatch(/\nstopped\n$/);
  await expect(ams('agent', 'create', 'eve.reader')).rejects.toThrow(/no service was found/);

  const again = await startInstalled(user, port);
  const messages = await call('bob.reader', `threads/${sent.id}/messages`);
  expect(JSON.stringify(messages)).toContain('"content":"Hello"');
  await again.interrupt();
  expect(again.output.text).toMatch(/\nstopped\n$/);
});
