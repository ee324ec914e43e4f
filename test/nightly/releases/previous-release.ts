import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Program, ServicePart } from '../../../scripts/parts/service-process.ts';

const root = resolve(import.meta.dirname, '../../..');

/** The commit of the release that this one replaces while it runs; HEAD until a release is tagged. */
const commit = readFileSync(join(root, 'deploy/previous-release'), 'utf8').trim();

const previousReleaseSource = spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root });

/** The reason why suites that need the previous release cannot run; undefined when they can. */
export const missingReleaseReason =
  previousReleaseSource.status === 0
    ? undefined
    : `the history does not hold ${commit}, which deploy/previous-release names`;

export interface Release {
  program(part: ServicePart): Program;
  /** Migrates the schema to the version of this release. */
  migrate(env: Record<string, string>): void;
  /** Registers a public agent of a new owner with its command line: this release needs its own schema for that. */
  createAgent(env: Record<string, string>, agent: { handle: string; inbound_policy: string }): void;
  remove(): Promise<void>;
}

/** The previous release, built from the history in a temporary folder, with the packages of its lock file. */
export async function buildPreviousRelease(): Promise<Release> {
  const folder = await mkdtemp(join(tmpdir(), 'ams-previous-'));
  const limits = { cwd: folder, timeout: 150_000, maxBuffer: 2 ** 28 };
  const archive = execFileSync('git', ['-C', root, 'archive', '--format=tar', commit], limits);
  execFileSync('tar', ['-x'], { ...limits, input: archive });
  execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], limits);
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--noCheck'], limits);
  // Only development dependencies: what is made of them is a part of the build.
  const names = ['esbuild', '@esbuild', '@hotwired', '@github'];
  const packages = names.map((name) => join('node_modules', name));
  await Promise.all(packages.map((path) => cp(join(root, path), join(folder, path), { recursive: true })));
  // Its API reference is not a part of the tests.
  const reference = join(folder, 'node_modules/swagger-ui-dist');
  await mkdir(reference);
  for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png', 'LICENSE', 'NOTICE'])
    await writeFile(join(reference, name), '');
  execFileSync(process.execPath, ['scripts/build-assets.mjs'], limits);
  const built = (entry: string) => join(folder, 'dist', entry);
  const runProgram = (env: Record<string, string>, ...args: string[]) =>
    void execFileSync(process.execPath, args, { ...limits, env: { ...process.env, ...env } });
  const entries = { api: built('src/main.js'), worker: built('workers/main.js') };
  return {
    program: (part) => ({ entry: entries[part], nodeArguments: [] }),
    migrate: (env) => runProgram(env, built('src/cli/main.js'), 'migrate'),
    createAgent(env, { handle, inbound_policy }) {
      const access = ['--visibility', 'public', '--inbound-policy', inbound_policy];
      runProgram(env, built('src/cli/main.js'), 'agent', 'create', handle, '--create-owner', ...access);
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
