// node scripts/client/build.mjs [client | chat-adapter]: builds the dist of a package from nothing. Runs before npm pack, in any folder.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const folder = join(root, 'packages', process.argv[2] ?? 'client');
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

// A new folder: a file whose source is gone must not be packed, and programs can import the old one until the end.
const dist = join(folder, 'dist');
const draft = `${dist}.${process.pid}.new`;
const replaced = `${dist}.${process.pid}.old`;
process.once('exit', () =>
  [draft, replaced].forEach((name) => rmSync(name, { recursive: true, force: true })),
);
// Without paths, a package is compiled against the built files of the other packages, as its users have them.
const config = ['tsconfig.build.json', 'tsconfig.json'].map((name) => join(folder, name)).find(existsSync);
const options = ['-p', config, '--paths', 'null', '--outDir', draft];
const done = spawnSync(process.execPath, [compiler, ...options], { cwd: root, stdio: 'inherit' });
if (done.error) process.stderr.write(`the compiler could not be started: ${done.error.message}\n`);
if (done.status !== 0) process.exit(1);

// The compiler names the sources in declarations. Compilers before 5.7 look for the built files only.
for (const name of readdirSync(draft, { recursive: true })) {
  if (!name.endsWith('.d.ts')) continue;
  const file = join(draft, name);
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(["'])(\.[^"']*)\.ts\1/g, '$1$2.js$1'));
}
if (existsSync(dist)) renameSync(dist, replaced);
renameSync(draft, dist);
