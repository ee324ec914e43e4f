import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { build } from 'esbuild';

const dist = resolve(import.meta.dirname, '../../../dist');
const bundles = join(dist, '.bundle', 'service');

/** Of other databases than ours, which knex would ask for; what brings a binary; what is loaded only when it is needed. */
const externalPackages = [
  'better-sqlite3',
  'mariadb',
  'mysql',
  'mysql2',
  'oracledb',
  'pg-query-stream',
  'sqlite3',
  'tedious',
  'pg-native',
  '@node-rs/argon2',
  '#assets/*',
  '@aws-sdk/*',
  '@bull-board/*',
  '@opentelemetry/*',
  '@zxcvbn-ts/*',
  'bullmq-otel',
];

/** What packages in CommonJS ask for. A module of the bundle may have a `createRequire` of its own. */
const banner = `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);`;

/** The command line, and the API with the fixtures of the MCP conformance suite, which is no part of the build. */
const conformance = resolve(import.meta.dirname, '../conformance');
const entryPoints = {
  api: join(dist, 'src/main.js'),
  worker: join(dist, 'workers/main.js'),
  ams: join(dist, 'src/cli/main.js'),
  'conformance-api': join(conformance, 'api.ts'),
};

/**
 * Puts the built service with the packages that it loads into a few files, once for each build: a process of the service reads and
 * links 1,500 modules before it is ready, which is most of what a process that a test starts costs. Three levels below dist/, as the
 * modules are that find the migrations by a relative path.
 * @returns the folder
 */
export async function bundleService(): Promise<string> {
  const stamp = createHash('sha256');
  const fixtures = (await readdir(conformance)).sort().map((name) => join(conformance, name));
  const lockFile = resolve(dist, '../package-lock.json');
  for (const file of [join(dist, '.built'), lockFile, import.meta.filename, ...fixtures]) {
    stamp.update(await readFile(file));
  }
  const folder = join(bundles, stamp.digest('hex').slice(0, 16));
  if (existsSync(join(folder, 'api.js'))) return folder;
  const draft = await mkdtemp(join(dist, '.bundling-'));
  await build({
    entryPoints,
    outdir: draft,
    bundle: true,
    splitting: true,
    // Some packages go by the names of their classes.
    keepNames: true,
    external: externalPackages,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    banner: { js: banner },
    logLevel: 'error',
  });
  await installBundle(draft, folder);
  return folder;
}

/** Puts the draft in its place, and away what was bundled from other builds. */
async function installBundle(draft: string, folder: string): Promise<void> {
  await mkdir(bundles, { recursive: true });
  for (const name of await readdir(bundles)) {
    if (name !== basename(folder)) await rm(join(bundles, name), { recursive: true, force: true });
  }
  try {
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!existsSync(join(folder, 'api.js'))) throw error; // else another run was quicker, with the same
  }
}
