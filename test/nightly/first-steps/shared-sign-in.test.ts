import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openFormBrowser } from '../../clients/form-browser.ts';
import { startBridge } from '../../clients/mcp/bridge.ts';
import { captureOpenedUrls } from '../../clients/oauth/opened-urls.ts';
import {
  type RestartableService,
  startRestartableService,
} from '../../integration/bridge/restartable-service.ts';

let service: RestartableService;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ams-shared-'));
  service = await startRestartableService();
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** A command line with a configuration folder of its own. */
async function start(name: string, env: Record<string, string>) {
  const bridge = startBridge({
    args: [service.url],
    env: { ...env, AMS_CONFIG_DIR: join(folder, name) },
  });
  onTestFinished(() => bridge.client.close());
  await bridge.connect();
  // The bridge repeats only calls of tools that it knows to read.
  await bridge.client.listTools();
  return bridge;
}

test('three command lines that share a sign-in but no lock refresh at once, and all stay signed in', async () => {
  const desktop = await captureOpenedUrls();
  onTestFinished(() => desktop.close());
  const person = openFormBrowser(service.url);
  const username = `shared-${process.pid}`;
  await person.signUp(username, 'a quiet word in passing');
  await service.register(`${username}.helper`);

  const starting = start('one', desktop.env);
  const consent = await person.go(await desktop.next());
  await fetch((await person.approve(consent)).headers.get('Location') ?? '');
  const first = await starting;
  // The same client and refresh token in other folders, as programs have it that copy their settings.
  await Promise.all(
    ['two', 'three'].map((name) => cp(join(folder, 'one'), join(folder, name), { recursive: true })),
  );
  const noBrowser = { BROWSER: '/bin/false' };
  const all = [first, ...(await Promise.all(['two', 'three'].map((name) => start(name, noBrowser))))];

  // In the first round they use one refresh token together, in the second each its own.
  for (let round = 0; round < 2; round += 1) {
    await service.query('update access_tokens set expires_at = 0', []);
    await service.stop(); // A process keeps what it knows of a token for a while.
    await service.start();
    const names = await Promise.all(all.map(async ({ call }) => (await call('whoami'))['canonical_handle']));
    expect(names).toEqual(all.map(() => `${username}.helper`));
  }
  expect(await service.query('select 1 from client_grants', [])).toHaveLength(1);
  expect(all.map(({ log }) => log()).join('')).not.toContain('has ended');
});
