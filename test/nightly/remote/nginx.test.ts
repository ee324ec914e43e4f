import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Installation, startInstallation } from '../../integration/remote/setup.ts';
import { connect, threadOf } from '../../integration/remote/invitations/setup.ts';
import { uploadId, waitForScan } from '../../integration/attachments/setup.ts';
import { waitUntil } from '../../integration/webhooks/setup.ts';
import { findFreePort } from '../../support/free-port.ts';
import { startNginx } from '../../support/servers/nginx.ts';
import { stopAfterTest } from '../../support/use.ts';

const page = join(import.meta.dirname, '../../../docs/federation.md');

/** An installation behind nginx as the page configures it. */
async function startBehindNginx(): Promise<Installation> {
  const ports = { outer: await findFreePort(), service: await findFreePort() };
  const [, shown = ''] = /```nginx\n([\s\S]*?)```/.exec(await readFile(page, 'utf8')) ?? [];
  await startNginx(shown, [
    ['listen 443 ssl;', `listen 127.0.0.1:${ports.outer} ssl;`],
    ['http://127.0.0.1:3000', `http://127.0.0.1:${ports.service}`],
  ]);
  const env = { PUBLIC_URL: `https://localhost:${ports.outer}`, TRUST_PROXY: 'true' };
  return stopAfterTest(await startInstallation({ port: ports.service, env }));
}

test('two installations behind nginx, as the page configures it, talk and exchange files', async () => {
  // The certificates are signed by themselves.
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  onTestFinished(() => void vi.unstubAllEnvs());
  const [here, there] = [await startBehindNginx(), await startBehindNginx()];
  const publicUrl = there.core.config.PUBLIC_URL;
  await waitUntil(
    async () => (await fetch(`${publicUrl}/.well-known/jwks.json`).catch(() => null))?.status,
  ).toBe(200);
  const { ann, bob, remoteBob } = await connect(here, there);
  const { thread_id, task_id } = await here.ask(ann, remoteBob, 'Do you have the plan?');
  const thread = await threadOf(there, bob);
  await there.send(bob, thread, 'Yes.');
  await waitUntil(async () => (await here.readTask(ann, task_id)).state).toBe('completed');
  const bytes = Buffer.alloc(4 * 1024 * 1024, 'The plan. ');
  const id = await uploadId(here, ann, { name: 'plan.txt', type: 'text/plain', bytes });
  await waitForScan(here, ann, id);
  await here.send(ann, thread_id, 'The plan.', { attachment_ids: [id] });
  await waitUntil(async () => (await there.messages(bob, thread)).at(-1)?.attachments).toMatchObject([
    { filename: 'plan.txt', size_bytes: bytes.byteLength },
  ]);
  // All other paths stay inside.
  for (const path of ['/v1/threads', '/console', '/mcp', '/docs', '/healthz'])
    expect([path, (await fetch(`${publicUrl}${path}`)).status]).toEqual([path, 404]);
});
