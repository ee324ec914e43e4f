// node scripts/client/bundle-command-line.mjs: puts `am` and the packages that it needs into dist/cli/main.js of the built client package,
// so that installing the client installs nothing else. Runs after build.mjs.
import { chmodSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const folder = join(root, 'packages', 'client');
const output = join(folder, 'dist', 'cli');

// What the compiler has made of the command line asks for packages that users do not have.
for (const name of ['bridge', 'cli']) rmSync(join(folder, 'dist', name), { recursive: true, force: true });
await build({
  entryPoints: [join(folder, 'src', 'cli', 'main.ts')],
  outdir: output,
  bundle: true,
  // The bridge is loaded when it is used.
  splitting: true,
  minify: true,
  keepNames: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  // Of ws, and not needed.
  external: ['bufferutil', 'utf-8-validate'],
  // What packages in CommonJS ask for.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
  legalComments: 'eof',
  logLevel: 'error',
});
chmodSync(join(output, 'main.js'), 0o755);
