// node --import tsx scripts/client/write-fake-contract.ts: writes what the fake service takes from the catalogue. Commit the result.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildFakeContract } from './fake-contract.ts';

const root = resolve(import.meta.dirname, '../..');
const file = join(root, 'packages/client/src/testing/contract.json');
writeFileSync(file, JSON.stringify(buildFakeContract(), null, 2));
const formatter = join(root, 'node_modules/oxfmt/bin/oxfmt');
const { status } = spawnSync(process.execPath, [formatter, file], { cwd: root, stdio: 'inherit' });
process.exitCode = status ?? 1;
