// Copies what /docs serves of Swagger UI to dist/swagger-ui. Its package is only a development dependency, because it brings an install
// script that sends telemetry.
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = join(root, 'dist', 'swagger-ui');
mkdirSync(target, { recursive: true });
for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png', 'LICENSE', 'NOTICE']) {
  copyFileSync(join(root, 'node_modules', 'swagger-ui-dist', name), join(target, name));
}
