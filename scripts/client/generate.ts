import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { generateClientFiles } from './generate-files.ts';

// npm run generate:client: writes the calls and events of the client library again.
const folder = resolve('packages/client/src/generated');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const [name, text] of generateClientFiles()) writeFileSync(join(folder, name), text);
process.stdout.write(`${folder} is up to date\n`);
