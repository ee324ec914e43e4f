// Runs before node_modules exists: plain JavaScript with Node's own modules only. All output goes to stderr.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const inRoot = (...path) => join(root, ...path);

/** Prepares the checkout: checks Node's version, loads .env, installs dependencies, builds dist/. Exits with one line on failure. */
export async function bootstrap() {
  checkNode();
  loadEnv();
  if (!dependenciesAreCurrent()) await install();
  build();
}

/** Prints one line and exits with 1. */
export function fail(line) {
  process.stderr.write(`${line}\n`);
  process.exit(1);
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  fail(`Node 20.19 or newer is needed; this is ${process.versions.node}`);
}

/** Variables that are set already take precedence. */
function loadEnv() {
  const file = inRoot('.env');
  if (!existsSync(file)) return;
  try {
    process.loadEnvFile(file);
  } catch (error) {
    fail(`${file}: cannot be read (${error.code ?? error.message})`);
  }
}

/** Compares package-lock.json with npm's record of the installed packages. */
export function dependenciesAreCurrent() {
  const wanted = readJson(inRoot('package-lock.json'))?.packages;
  const installed = readJson(inRoot('node_modules', '.package-lock.json'))?.packages;
  if (!wanted || !installed) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true;
    const found = installed[path];
    // Optional packages for other platforms are not installed.
    if (!found) return entry.optional === true;
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null; // missing or damaged: npm ci creates it again or reports the error
  }
}

async function install() {
  process.stderr.write('installing dependencies, which takes a minute or two ...\n');
  let done = await npm('ci');
  if (done.status !== 0 && /\bEUSAGE\b/.test(done.stderr)) {
    // The lock file is incomplete, for example without optional packages of other platforms. npm install uses the listed
    // versions, and the lock file is not changed.
    process.stderr.write(
      'npm ci refuses package-lock.json as incomplete; installing with npm install --no-save ...\n',
    );
    done = await npm('install', '--no-save');
  }
  if (done.status === 0) return;
  process.stderr.write(done.stdout + done.stderr);
  fail(`npm failed (${done.signal ?? `exit code ${done.status}`}); see above`);
}

async function npm(...args) {
  const own = process.env.npm_execpath; // the npm that runs this script, if any
  const [command, ...before] = own && basename(own) === 'npm-cli.js' ? [process.execPath, own] : ['npm'];
  const all = [...before, ...args, '--include=dev', '--include=optional', '--no-audit', '--no-fund'];
  const start = Date.now();
  const report = () =>
    process.stderr.write(`still installing (${Math.round((Date.now() - start) / 1_000)} s) ...\n`);
  const child = spawn(command, all, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const timer = setInterval(report, 10_000);
  try {
    const [[status, signal], stdout, stderr] = await Promise.all([
      once(child, 'close'),
      text(child.stdout),
      text(child.stderr),
    ]);
    return { status, signal, stdout, stderr };
  } catch (error) {
    return fail(`npm could not be started (${error.message})`);
  } finally {
    clearInterval(timer);
  }
}

const stampFile = inRoot('dist', '.built');

/** Compiles when a source was changed, added or removed since the last build. Types are checked by npm run check, not here. */
function build() {
  const stamp = fingerprint();
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  process.stderr.write('compiling ...\n');
  runBuild(inRoot('node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.build.json', '--noCheck');
  // Programs in the checkout import the client library, and run `npx am`.
  runBuild(inRoot('scripts', 'client', 'build.mjs'));
  runBuild(inRoot('scripts', 'client', 'bundle.mjs'));
  runBuild(inRoot('scripts', 'client', 'pack.mjs'));
  removeLeftovers('dist');
  runBuild(inRoot('scripts', 'build-assets.mjs'));
  const draft = `${stampFile}.${process.pid}`;
  writeFileSync(draft, stamp);
  renameSync(draft, stampFile);
}

function runBuild(...args) {
  const done = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  if (done.status === 0) return;
  process.stderr.write(`${done.stdout}${done.stderr}`);
  fail(`the build failed (${done.error?.message ?? done.signal ?? `exit code ${done.status}`}); see above`);
}

function fingerprint() {
  const hash = createHash('sha256');
  const files = [
    'tsconfig.json',
    'tsconfig.build.json',
    'packages/client/package.json',
    'packages/client/README.md',
    'packages/client-python/pyproject.toml',
    'packages/client-python/README.md',
    'node_modules/@hotwired/turbo/package.json',
    ...[
      'src',
      'workers',
      'migrations',
      'bench',
      'chaos',
      'scripts',
      'assets',
      'packages/core/src',
      'packages/client/src',
      'packages/client-python/src',
    ].flatMap(sources),
  ];
  for (const file of files) {
    const { mtimeMs, size } = statSync(inRoot(file));
    hash.update(`${file}\0${mtimeMs}\0${size}\0`);
  }
  return hash.digest('hex');
}

/** Every source file below a folder of the checkout, in a fixed order. */
function sources(folder) {
  if (!existsSync(inRoot(folder))) return [];
  const names = readdirSync(inRoot(folder), { recursive: true }).filter((name) =>
    /\.(?:tsx?|m?js|css|py)$/.test(name),
  );
  return names.sort((a, b) => (a < b ? -1 : 1)).map((name) => join(folder, name));
}

/** Removes compiled files without a source, which would still be loaded, for example as migrations. */
function removeLeftovers(folder) {
  for (const name of readdirSync(inRoot(folder), { recursive: true })) {
    const [compiled, source] = /^(.*)\.js(?:\.map)?$/.exec(name) ?? [];
    const isLeft = compiled && !['.ts', '.tsx'].some((ending) => existsSync(inRoot(source + ending)));
    if (isLeft) rmSync(inRoot(folder, name));
  }
}
