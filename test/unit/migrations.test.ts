import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const folder = join(import.meta.dirname, '../../migrations');

/** The last one of those that came before the rule. */
const before = '0037-audit-log.ts';

/** Indexes that a migration builds on a table of an earlier one while everybody who writes to it waits. */
function holdingUp(text: string): string[] {
  const up = text.split('export async function down')[0] ?? '';
  const made = new Set([...up.matchAll(/create table (?:if not exists )?(\w+)/g)].map(([, table]) => table));
  const built = up.matchAll(
    /create (?:unique )?index (?!concurrently\b)(?:if not exists )?(\w+)\s+on (\w+)/g,
  );
  return [...built].flatMap(([, index = '', table]) => (made.has(table) ? [] : [index]));
}

test('no migration blocks writes to a large table while it builds an index', () => {
  const files = readdirSync(folder).filter((file) => /^\d{4}-/.test(file) && file > before);
  const found = files.flatMap((file) => holdingUp(readFileSync(join(folder, file), 'utf8')));
  expect(found).toEqual([]);
  // The check can fail.
  expect(holdingUp('create table a (); create index b on a (x); create unique index c on d (x)')).toEqual([
    'c',
  ]);
  expect(holdingUp('create index concurrently if not exists b on a (x)')).toEqual([]);
});
