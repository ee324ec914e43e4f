import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { createClient } from '../../../packages/client/src/main.ts';
import { generateClientFiles, generatePythonFile } from '../../../scripts/client/generate-files.ts';
import { catalogue } from '../../../src/operations/catalogue.ts';
import { createFolder } from '../../support/use.ts';

const root = resolve(import.meta.dirname, '../../..');
const folder = join(root, 'packages/client/src/generated');

test('the generated files are up to date: otherwise run npm run generate', () => {
  const generated = generateClientFiles();
  expect(readdirSync(folder).toSorted()).toEqual([...generated.keys()].toSorted());
  for (const [name, text] of generated) expect(readFileSync(join(folder, name), 'utf8'), name).toBe(text);
});

test('every operation of REST has a method', () => {
  const client = createClient({ url: 'http://localhost:3000', auth: 'token' });
  const methods = Object.values(client).flatMap((noun: unknown) =>
    typeof noun === 'object' && noun !== null ? Object.keys(noun) : [],
  );
  const byHand = {
    upload: 'create_attachment',
    download: 'download_attachment',
    save: undefined,
    work: undefined,
    wait: undefined,
  };
  const operations = catalogue.filter(({ rest }) => rest !== undefined);
  expect(methods).toEqual(expect.arrayContaining(Object.keys(byHand)));
  // `save`, `inbox.work`, `tasks.work` and `tasks.wait` stand for no operation of their own.
  expect(methods).toHaveLength(operations.length + 4);
});

test('the operations of the Python client are up to date: otherwise run npm run generate', () => {
  const file = join(root, 'packages/client-python/src/agent_messaging/_operations.py');
  expect(readFileSync(file, 'utf8')).toBe(generatePythonFile());
});

/** Writes the lists of a checkout. */
const writeLists = (cwd: string, ...args: string[]) =>
  execFileSync(process.execPath, [join(root, 'scripts/client/write-lists.mjs'), ...args], { cwd });

test('the lists of what folders define are up to date: otherwise run npm run generate', () => {
  expect(() => writeLists(root, '--check')).not.toThrow();
});

test('a new operation comes after the last one of its folder, and the order of the others is kept', async () => {
  const checkout = await createFolder();
  for (const name of ['src', 'packages/core/src', 'packages/client/src'])
    cpSync(join(root, name), join(checkout, name), { recursive: true });
  const list = join(checkout, 'src/operations/list.ts');
  const before = readFileSync(list, 'utf8');
  const file = join(checkout, 'src/operations/messages/a-new-one.ts');
  writeFileSync(file, 'export const aNewOneOperation = defineAction({});\n');
  expect(() => writeLists(checkout, '--check')).toThrow('src/operations/list.ts is not up to date');
  writeLists(checkout);
  const listed = (text: string) => text.match(/^ {2}\w+/gm) ?? [];
  const after = readFileSync(list, 'utf8');
  expect(after).toContain("import { aNewOneOperation } from './messages/a-new-one.ts';");
  const last = '  listMessagesOperation';
  expect(listed(after)).toEqual(
    listed(before).flatMap((name) => (name === last ? [name, '  aNewOneOperation'] : [name])),
  );
});
