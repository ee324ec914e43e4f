// node scripts/run.mjs <name> [arguments]: runs one of the entries below in this process, so that signals and exit codes work unchanged.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseEnv } from 'node:util';
import { bootstrap, fail, root } from './bootstrap.mjs';

const entries = {
  api: 'src/main.js',
  worker: 'workers/main.js',
  migrate: 'src/migrate.js',
  ams: 'src/cli/main.js',
  demo: 'scripts/demo.js',
  bench: 'bench/main.js',
  chaos: 'chaos/main.js',
  screenshots: 'scripts/screenshots.js',
  'generate:python': 'scripts/client/generate-python.js',
  'generate:client': 'scripts/client/generate.js',
};
const usesTheRunningService = new Set(['migrate', 'ams', 'demo', 'bench']);
const needsADatabase = new Set(['migrate', 'ams']);
const worksWithoutOne = new Set(['--help', '-h', 'help', '--version', '-V', 'doctor']);

const [name, ...args] = process.argv.slice(2);
if (!Object.hasOwn(entries, name ?? '')) {
  fail(`usage: node scripts/run.mjs ${Object.keys(entries).join('|')} [arguments]`);
}
bootstrap();
// The bridge is a client: it must not get secrets of the service.
if (usesTheRunningService.has(name) && args[0] !== 'mcp-stdio') findService();

const entry = join(root, 'dist', entries[name]);
if (!existsSync(entry)) fail(`${entry} is missing`);
process.argv = [process.argv[0], entry, ...args];
await import(pathToFileURL(entry).href);

/** Without DATABASE_URL, loads the settings of the service that npm start runs; see src/embedded/service-env.ts. */
function findService() {
  if (process.env.DATABASE_URL) return;
  const file = resolve(process.env.DATA_DIR || '.data', 'service.env');
  if (existsSync(file)) {
    // Variables that are set and not empty take precedence.
    for (const [key, value] of Object.entries(readSettings(file))) process.env[key] ||= value;
    return;
  }
  const asksForHelp = args.length === 0 ? name === 'ams' : args.some((arg) => worksWithoutOne.has(arg));
  if (needsADatabase.has(name) && !asksForHelp) {
    fail(
      `DATABASE_URL: is not set and no service was found (no ${file}); run npm start first, or set DATABASE_URL`,
    );
  }
}

function readSettings(file) {
  try {
    return parseEnv(readFileSync(file, 'utf8'));
  } catch (error) {
    return fail(
      `${file}: cannot be read (${error.code ?? error.message}); run this as the user who ran npm start`,
    );
  }
}
