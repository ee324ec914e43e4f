import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useSharedService } from '../../support/service.ts';

const service = useSharedService();
const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ams-clients-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Downloads a file of the service. */
async function download(path: string): Promise<string> {
  const response = await fetch(`${service.url}${path}`);
  expect(response.status).toBe(200);
  const file = join(folder, new URL(response.url).pathname.slice(1));
  await writeFile(file, Buffer.from(await response.arrayBuffer()));
  return file;
}

test('npm gets the client of this version, with its programs and types', async () => {
  const file = await download('/client.tgz');
  execFileSync('tar', ['-xzf', file, '-C', folder]);
  const about = JSON.parse(await readFile(join(folder, 'package/package.json'), 'utf8')) as object;
  expect(about).toMatchObject({ name: '@agent-messaging/client', version });
  const program = `import('${folder}/package/dist/node/main.js').then((client) => console.log(typeof client.createClient))`;
  expect(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' })).toBe('function\n');
  const am = execFileSync(process.execPath, [join(folder, 'package/dist/cli/main.js'), '--version']);
  expect(am.toString()).toContain(version);
});

test('pip gets a wheel whose name it accepts; the short address leads to it', async () => {
  const file = await download('/client.whl');
  expect(file).toBe(join(folder, `agent_messaging_client-${version}-py3-none-any.whl`));
  const program = 'import agent_messaging, sys; print(agent_messaging.Client.__name__)';
  const options = { env: { ...process.env, PYTHONPATH: file }, encoding: 'utf8' } as const;
  expect(execFileSync('python3', ['-c', program], options)).toBe('Client\n');
});
