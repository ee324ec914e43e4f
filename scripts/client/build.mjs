// node scripts/client/build.mjs [client | chat-adapter]: builds the dist of a package from nothing. Runs before npm pack, in any folder.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const folder = join(root, 'packages', process.argv[2] ?? 'client');
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

// A file whose source is gone must not be packed.
rmSync(join(folder, 'dist'), { recursive: true, force: true });
// Without paths, a package is compiled against the built files of the other packages, as its users have them.
const done = spawnSync(process.execPath, [compiler, '-p', join(folder, 'tsconfig.json'), '--paths', 'null'], {
  cwd: root,
  stdio: 'inherit',
});
if (done.error) process.stderr.write(`the compiler could not be started: ${done.error.message}\n`);
if (done.status !== 0) process.exit(1);

// The compiler names the sources in declarations. Compilers before 5.7 look for the built files only.
for (const name of readdirSync(join(folder, 'dist'), { recursive: true })) {
  if (!name.endsWith('.d.ts')) continue;
  const file = join(folder, 'dist', name);
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(["'])(\.[^"']*)\.ts\1/g, '$1$2.js$1'));
}
