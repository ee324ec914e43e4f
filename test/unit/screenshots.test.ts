import { readdirSync, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const folder = resolve(root, 'docs/images');
const files = readdirSync(folder).sort();

test('docs/console.md shows every picture, and every picture that it shows exists', () => {
  const page = readFileSync(resolve(root, 'docs/console.md'), 'utf8');
  const shown = Array.from(page.matchAll(/images\/([\w-]+\.png)/g), ([, name = '']) => name);
  expect([...new Set(shown)].sort()).toEqual(files);
});

test('the README shows pictures that exist', () => {
  const readme = readFileSync(resolve(root, 'README.md'), 'utf8');
  const shown = Array.from(readme.matchAll(/docs\/images\/([\w-]+\.png)/g), ([, name = '']) => name);
  expect(shown.length).toBeGreaterThan(0);
  expect(files).toEqual(expect.arrayContaining(shown));
});

test('no picture is larger than 150 kB', () => {
  const sizes = files.map((name) => [name, statSync(resolve(folder, name)).size] as const);
  expect(sizes.filter(([, size]) => size > 150_000)).toEqual([]);
});
