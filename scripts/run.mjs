// node scripts/run.mjs <name> [arguments]: runs one of the entries below in this process, so that signals and exit codes work unchanged.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap, fail, root } from './bootstrap.mjs';

const entries = {
  api: 'src/main.js',
  worker: 'workers/main.js',
  migrate: 'src/cli/main.js',
  ams: 'src/cli/main.js',
  demo: 'scripts/demo.js',
  bench: 'bench/main.js',
  chaos: 'chaos/main.js',
  screenshots: 'scripts/screenshots.js',
  generate: 'scripts/client/generate.js',
};

const [name, ...args] = process.argv.slice(2);
if (!Object.hasOwn(entries, name ?? '')) {
  fail(`usage: node scripts/run.mjs ${Object.keys(entries).join('|')} [arguments]`);
}
// The build needs the files that this writes.
if (name === 'generate') await import('./client/write-lists.mjs');
await bootstrap();
// The command line `ams` finds the running service by itself.
if (name === 'demo') await findService();

const entry = join(root, 'dist', entries[name]);
if (!existsSync(entry)) fail(`${entry} is missing`);
process.argv = [process.argv[0], entry, ...(name === 'migrate' ? [name] : []), ...args];
await import(pathToFileURL(entry).href);

/** Adds the settings of the service that npm start runs, unless DATABASE_URL is set. */
async function findService() {
  const { withServiceEnv } = await import('../dist/src/embedded/service-env.js');
  try {
    Object.assign(process.env, withServiceEnv(process.env));
  } catch (error) {
    fail(error.message);
  }
}
