import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildFakeContract } from './fake-contract.ts';
import { generateClientFiles, generatePythonFile } from './generate-files.ts';
import { renderToolTable } from './tool-table.ts';

// npm run generate: writes everything that the clients take from the catalogue. It needs no running service.
// All of it is generated before anything is removed: this program imports the files that it writes.
const files = generateClientFiles();
const pythonText = generatePythonFile();
const fakeContract = JSON.stringify(buildFakeContract(), null, 2);

const folder = resolve('packages/client/src/generated');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const [name, text] of files) writeFileSync(join(folder, name), text);

const python = resolve('packages/client-python/src/agent_messaging/_operations.py');
writeFileSync(python, pythonText);

const contract = resolve('packages/client/src/testing/contract.json');
writeFileSync(contract, fakeContract);
const formatter = resolve('node_modules/oxfmt/bin/oxfmt');
const { status } = spawnSync(process.execPath, [formatter, contract], { stdio: 'inherit' });
if (status !== 0) throw new Error(`${contract} could not be formatted`);

const page = resolve('docs/mcp.md');
const table = /(?<=\n## Tools\n\n)(?:\|.*\n)+/;
writeFileSync(
  page,
  readFileSync(page, 'utf8').replace(table, () => `${renderToolTable()}\n`),
);

for (const written of [folder, python, contract, page]) process.stdout.write(`${written} is up to date\n`);
