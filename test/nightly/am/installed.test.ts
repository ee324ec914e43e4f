import { execFile } from 'node:child_process';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { installPackage } from '../../integration/client/installed-package.ts';
import { use } from '../../support/use.ts';

const run = promisify(execFile);

const installed = use(installPackage);

/** Bytes of all files of a folder. */
async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const files = await Promise.all(names.map((name) => stat(join(folder, name))));
  return files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
}

test('the command line with the bridge is installed with at most 5 MB', async () => {
  const folder = join(installed.folder, 'node_modules/@agent-messaging');
  expect(await sizeOf(folder)).toBeLessThan(5_000_000);
  const am = join(installed.folder, 'node_modules/.bin/am');
  const env = { PATH: process.env['PATH'], XDG_CONFIG_HOME: installed.folder };
  expect((await run(am, ['--help'], { env })).stdout).toContain('Exit codes: 0 done');
  await expect(run(am, ['whoami'], { env })).rejects.toMatchObject({
    code: 3,
    stderr: 'error: the profile default is not signed in; run: am login\n',
  });
  const bridge = run(am, ['mcp-stdio', 'http://127.0.0.1:9', '--timeout', '0'], {
    env: { ...env, AMS_TOKEN: 'x' },
  });
  bridge.child.stdin?.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`);
  expect((await bridge).stdout).toContain('"id":1');
});

test('the fake service works from the package', async () => {
  const program = `
import { createClient } from '@agent-messaging/client/node';
import { fakeService } from '@agent-messaging/client/testing';
const service = await fakeService();
const { token } = service.agent('acme.planner');
const { canonical_handle } = await createClient({ url: service.url, auth: token }).agents.getMe();
await service.stop();
console.log(canonical_handle);
`;
  await writeFile(join(installed.folder, 'fake.mjs'), program);
  const { stdout, stderr } = await run(process.execPath, ['fake.mjs'], { cwd: installed.folder });
  expect([stdout, stderr]).toEqual(['acme.planner\n', '']);
});
