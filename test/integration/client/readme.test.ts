import { execFile } from 'node:child_process';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startServiceOnFixedPort } from '../../support/service-on-fixed-port.ts';
import { createFolder, use } from '../../support/use.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../../..');

const service = use(startServiceOnFixedPort);

/** The program of the README in a folder, checked by the rules that TypeScript has by default, with strict types. */
async function checkTour(): Promise<string> {
  const readme = await readFile(join(root, 'packages/client/README.md'), 'utf8');
  const [, program = ''] = /## A tour\n[^]*?```js\n([^]*?)```/.exec(readme) ?? [];
  expect(program.trim().split('\n').length).toBeLessThanOrEqual(70);
  const folder = await createFolder();
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  const types = { strict: true, checkJs: true, noEmit: true, types: ['node'] };
  const compilerOptions = { ...types, module: 'nodenext', target: 'es2023' };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['tour.mjs'] }));
  await writeFile(join(folder, 'tour.mjs'), program);
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [compiler, '-p', folder]).catch((error: unknown) => {
    throw new Error(String(Object(error).stdout), { cause: error });
  });
  return folder;
}

test('the tour of the README has the types of the default library of TypeScript, and runs as it is', async () => {
  const [folder, ada, bob] = await Promise.all([checkTour(), service.agent(), service.agent()]);
  const env = {
    PATH: process.env['PATH'],
    AMS_URL: service.url,
    ADA_TOKEN: ada.token,
    BOB_TOKEN: bob.token,
  };
  const { stdout, stderr } = await run(process.execPath, ['tour.mjs'], { cwd: folder, env });
  expect(stderr).toBe('');
  const [answer, event, ...rest] = stdout.trim().split('\n');
  expect(answer).toBe('You wrote: Did you get it?');
  expect(event).toBe(`${bob.handle}: You wrote: It is ready.`);
  expect(rest).toContainEqual(expect.stringMatching(/^thd_\w+ Weekly report 1$/));
  expect(rest.slice(-2)).toEqual(['8', 'THREAD_NOT_FOUND']);
  expect(await readFile(join(folder, 'report.csv'), 'utf8')).toBe('a,b\n1,2\n');
});
