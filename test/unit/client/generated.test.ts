import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { createClient } from '../../../packages/client/src/main.ts';
import { generateClientFiles, generatePythonFile } from '../../../scripts/client/generate-files.ts';
import { catalogue } from '../../../src/operations/catalogue.ts';

const folder = resolve(import.meta.dirname, '../../../packages/client/src/generated');

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
  const file = resolve(
    import.meta.dirname,
    '../../../packages/client-python/src/agent_messaging/_operations.py',
  );
  expect(readFileSync(file, 'utf8')).toBe(generatePythonFile());
});
