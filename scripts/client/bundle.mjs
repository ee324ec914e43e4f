// node scripts/client/bundle.mjs: puts `am` and the fake service, each with the packages that it needs, into dist/cli/main.js and
// dist/testing/main.js of the built client package, so that installing the client installs nothing else. Runs after build.mjs.
import { chmodSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const folder = join(root, 'packages', 'client');
const output = join(folder, 'dist', 'cli');

const shared = {
  bundle: true,
  minify: true,
  keepNames: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  // What packages in CommonJS ask for.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
  legalComments: 'eof',
  logLevel: 'error',
};

/** The translations of zod are half of the bundle. The service describes issues in its own words. */
const withoutTranslations = {
  name: 'without-translations',
  setup: (plugins) =>
    plugins.onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({ contents: '' })),
};

// What the compiler has made of the command line asks for packages that users do not have.
for (const name of ['bridge', 'cli']) rmSync(join(folder, 'dist', name), { recursive: true, force: true });
await build({
  ...shared,
  entryPoints: [join(folder, 'src', 'cli', 'main.ts')],
  outdir: output,
  // The bridge is loaded when it is used.
  splitting: true,
  // Of ws, and not needed.
  external: ['bufferutil', 'utf-8-validate'],
});
chmodSync(join(output, 'main.js'), 0o755);

await build({
  ...shared,
  entryPoints: [join(folder, 'src', 'testing', 'main.ts')],
  outfile: join(folder, 'dist', 'testing', 'main.js'),
  // Users of the fake service have it.
  external: ['ws'],
  plugins: [withoutTranslations],
});
