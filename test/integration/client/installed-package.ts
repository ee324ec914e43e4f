import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { inject } from 'vitest';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../../..');

/** A folder in which the packed library was installed, without a network. */
export async function installPackage() {
  const folder = await mkdtemp(join(tmpdir(), 'ams-package-'));
  const { path, size, files } = await packPackage('client');
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const options = ['--offline', '--no-audit', '--no-fund', '--cache', join(folder, 'cache')];
  await run('npm', ['install', ...options, path], { cwd: folder });
  // As `npm install ws ai @ai-sdk/mcp @ai-sdk/openai-compatible` would.
  for (const name of ['ws', 'ai', '@ai-sdk'])
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name), 'dir');
  return {
    folder,
    size,
    files,
    /** Runs a program of node_modules/.bin of the checkout in the folder; rejects with its output. */
    async runTool(name: string, args: readonly string[]): Promise<void> {
      try {
        await run(join(root, 'node_modules/.bin', name), args, { cwd: folder });
      } catch (error) {
        throw new Error(`${name}: ${String(Reflect.get(Object(error), 'stdout'))}`, { cause: error });
      }
    },
    /** Starts an example in a folder of its own below the installed library. */
    startExample: async (name: string, env: Record<string, string>, ...args: string[]) => {
      const work = join(folder, `of-${name}`);
      await mkdir(work, { recursive: true });
      await copyFile(join(root, 'examples', `${name}.mjs`), join(work, `${name}.mjs`));
      return startProgram(work, [`${name}.mjs`, ...args], env);
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Builds and packs a package, once in a run, one at a time: the build replaces files that npm reads. */
export async function packPackage(name: 'client' | 'chat-adapter') {
  const folder = inject('run_folder');
  const report = join(folder, `${name}.json`);
  const client = new pg.Client({ connectionString: inject('postgres_url') });
  await client.connect();
  try {
    // It ends with the connection, so also with the process.
    await client.query(`select pg_advisory_lock(hashtext('pack the client library'))`);
    if (!existsSync(report)) {
      // The adapter is compiled against what is built of the library.
      if (name !== 'client') await run('npm', ['run', 'build'], { cwd: join(root, 'packages/client') });
      const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
        cwd: join(root, 'packages', name),
      });
      // Before the JSON, npm prints what the build prints.
      await writeFile(report, stdout.slice(stdout.indexOf('[')));
    }
    const [{ filename, size, files }] = JSON.parse(await readFile(report, 'utf8'));
    return {
      path: join(folder, String(filename)),
      size: Number(size),
      files: (files as { path: string }[]).map(({ path }) => path),
    };
  } finally {
    await client.end();
  }
}

/** The packages that the programs of a folder import, without those of Node. Declarations count too. */
export async function listImports(folder: string): Promise<string[]> {
  const paths = await readdir(folder, { recursive: true });
  const texts = await Promise.all(
    paths.filter((path) => /\.(?:js|d\.ts)$/.test(path)).map((path) => readFile(join(folder, path), 'utf8')),
  );
  const specifiers = texts.flatMap((text) =>
    Array.from(text.matchAll(importPattern), ([, from, called]) => from ?? called ?? ''),
  );
  const isForeign = (name: string) => !name.startsWith('.') && !isBuiltin(name);
  return [...new Set(specifiers.filter(isForeign))].toSorted();
}

const importPattern =
  /^(?:import|export) (?:[^'"\n]* from )?['"]([^'"\n]+)['"];?$|\bimport\(['"]([^'"]+)['"]\)/gm;

/** Starts Node in a folder and collects what the program prints. */
function startProgram(cwd: string, args: readonly string[], env: Record<string, string>) {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { text: '', errors: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.errors += chunk.toString()));
  const closed = once(child, 'close');
  return {
    folder: cwd,
    output,
    closed,
    /** Returns the exit code and the signal. */
    async terminate(): Promise<unknown[]> {
      child.kill('SIGTERM');
      return closed;
    },
    async kill9(): Promise<void> {
      child.kill('SIGKILL');
      await closed;
    },
  };
}
