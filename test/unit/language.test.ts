import { expect, test } from 'vitest';
import { exceptions } from './language/exceptions.ts';
import { findViolations, isAllowed, type Text } from './language/find.ts';
import { rules } from './language/rules.ts';
import { generateDocuments, readCode, readDocumentation, readHelp } from './language/texts.ts';

/** What is wrong in the texts, one line each. */
function check(texts: readonly Text[]): string {
  return findViolations(texts, rules)
    .filter((finding) => !exceptions.some((exception) => isAllowed(finding, exception)))
    .map(({ place, word, use, line }) => `${place} "${word}" → ${use}: ${line.slice(0, 140)}`)
    .join('\n');
}

test('the documentation uses plain English and the terms of the glossary', () => {
  expect(check(readDocumentation())).toBe('');
});

test('so do the published documents, the tools and the help of the command line', async () => {
  expect(check([...generateDocuments(), ...(await readHelp())])).toBe('');
});

test('so do the code, its comments and its messages', () => {
  expect(check(readCode())).toBe('');
});

test('every exception is needed', async () => {
  const findings = findViolations(
    [...readDocumentation(), ...readCode(), ...generateDocuments(), ...(await readHelp())],
    rules,
  );
  const unused = exceptions.filter((exception) => !findings.some((finding) => isAllowed(finding, exception)));
  expect(unused).toEqual([]);
});

test('finds words in text and in names, phrases across lines, and clauses as subjects', () => {
  const find = (text: string) =>
    findViolations([{ name: 'text', text }], rules).map(({ place, word }) => `${place} ${word}`);
  expect(find('a door')).toEqual(['text:1 door']);
  expect(find('const openDoors = DOORS; // indoors')).toEqual(['text:1 Doors', 'text:1 DOORS']);
  expect(find('a string, spring, ringSoon')).toEqual(['text:1 ring']);
  expect(find('/**\n * They hear\n * of it.\n */')).toEqual(['text:2 hear of']);
  expect(find('Who is blocked is refused.')).toHaveLength(1);
  expect(find('Who is blocked? An agent.')).toEqual([]);
});
