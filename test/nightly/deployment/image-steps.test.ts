import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { waitUntil } from '../../../src/shared/wait-until.ts';
import { findFreePort } from '../../support/free-port.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';
import { createEmptyFolder } from './empty-folder.ts';

const root = join(import.meta.dirname, '../../..');

interface Stage {
  name: string;
  steps: { instruction: string; value: string }[];
}

/** The stages of the Dockerfile, without comments, each line joined with its continuations. */
function readStages(): Stage[] {
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ');
  const stages: Stage[] = [];
  for (const [, instruction = '', value = ''] of text.matchAll(/^([A-Z]+) (.+)$/gm)) {
    if (instruction === 'FROM') stages.push({ name: / AS (\w+)$/.exec(value)?.[1] ?? 'image', steps: [] });
    else stages.at(-1)?.steps.push({ instruction, value });
  }
  return stages;
}

/** The files of a path whose last part can be a pattern such as `*.md`. */
function expand(path: string): string[] {
  const [start = '', end] = basename(path).split('*');
  if (end === undefined) return [path];
  const names = readdirSync(dirname(path)).filter((name) => name.startsWith(start) && name.endsWith(end));
  return names.map((name) => join(dirname(path), name));
}

/** Executes the steps of a stage. `/app` and `/data` are folders of the stage, and its user is the one of the tests. */
function executeStage({ name, steps }: Stage, base: string): void {
  const folder = join(base, name);
  mkdirSync(join(folder, 'app'), { recursive: true });
  for (const { instruction, value } of steps) {
    if (instruction === 'COPY') {
      const [, from, paths = ''] = /^(?:--from=(\w+) )?(.+)$/.exec(value) ?? [];
      const words = paths.split(' ');
      const target = join(folder, 'app', words.pop() ?? '');
      const sources = words.flatMap((path) => expand(from ? join(base, from, path) : join(root, path)));
      for (const source of sources) {
        const isInto = paths.endsWith('/') || words.length > 1;
        cpSync(source, isInto ? join(target, basename(source)) : target, {
          recursive: true,
          verbatimSymlinks: true,
        });
      }
    } else if (instruction === 'RUN') {
      const command = value
        .replaceAll('/data', join(folder, 'data'))
        .replace('node:node', '"$(id -u):$(id -g)"');
      const { status, stderr } = spawnSync('sh', ['-c', command], {
        cwd: join(folder, 'app'),
        encoding: 'utf8',
        env: {
          PATH: process.env['PATH'],
          HOME: folder,
          NODE_EXTRA_CA_CERTS: process.env['NODE_EXTRA_CA_CERTS'],
        },
      });
      expect([value, status], stderr).toEqual([value, 0]);
    }
  }
}

/** The number of files below a folder, and their bytes. */
function measure(folder: string): { files: number; bytes: number } {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  return { files: files.length, bytes };
}

test('the steps of the Dockerfile give a service that starts without root and is healthy', async () => {
  const base = mkdtempSync(join(tmpdir(), 'ams-image-'));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const stages = readStages();
  expect(stages.map(({ name }) => name)).toEqual(['build', 'dependencies', 'image']);
  for (const stage of stages) executeStage(stage, base);
  const app = join(base, 'image', 'app');
  const size = measure(app);
  // docs/deployment.md states the figures.
  process.stdout.write(`production tree: ${size.files} files, ${Math.round(size.bytes / 1e6)} MB\n`);
  expect(size.files).toBeLessThan(25_000);
  expect(size.bytes).toBeLessThan(260e6);

  const user = await createEmptyFolder();
  cpSync(app, join(user.folder, 'app'), { recursive: true, verbatimSymlinks: true });
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const port = await findFreePort();
  const env = {
    DATABASE_URL: database.url,
    SECRET_KEY: '0123456789abcdef'.repeat(2),
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: String(port),
    DATA_DIR: join(user.folder, 'data'),
  };
  const last = stages.at(-1)?.steps ?? [];
  const commandOf = (text: string): string[] => JSON.parse(text.slice(text.indexOf('[')));
  const [file = '', ...args] = commandOf(last.find(({ instruction }) => instruction === 'CMD')?.value ?? '');
  const [check = '', ...checkArgs] = commandOf(
    last.find(({ instruction }) => instruction === 'HEALTHCHECK')?.value ?? '',
  );
  const inApp = (path: string) => (path.startsWith('dist/') ? join(user.folder, 'app', path) : path);
  await expect(user.run(check, checkArgs, env), 'before the start').rejects.toThrow();
  await user.run(file, [inApp('dist/src/cli/main.js'), 'migrate'], env);
  const service = user.start(file, args.map(inApp), env);
  const waitUntilHealthy = (container: typeof env) =>
    waitUntil(
      () =>
        user.run(check, checkArgs, container).then(
          () => true,
          () => false,
        ),
      { timeoutMs: 60_000 },
    );
  expect(await waitUntilHealthy(env), service.output.errors).toBe(true);
  expect(await (await fetch(`http://127.0.0.1:${port}/readyz`)).json()).toMatchObject({ status: 'ok' });
  await service.interrupt();

  const workerEnv = { ...env, OPS_PORT: String(await findFreePort()) };
  const worker = user.start(file, [inApp('dist/workers/main.js')], workerEnv);
  expect(await waitUntilHealthy(workerEnv), worker.output.errors).toBe(true);
  await worker.interrupt();
});
