// Makes the files of dist/ that pages load from packages which are only development dependencies: the script of the console, and what
// /docs serves of Swagger UI, whose package brings an install script that sends telemetry.
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
buildSync({
  entryPoints: [join(root, 'assets', 'console.js')],
  outfile: join(root, 'dist', 'assets', 'console.js'),
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  legalComments: 'eof',
  logLevel: 'error',
});

const target = join(root, 'dist', 'swagger-ui');
mkdirSync(target, { recursive: true });
for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png', 'LICENSE', 'NOTICE']) {
  copyFileSync(join(root, 'node_modules', 'swagger-ui-dist', name), join(target, name));
}
