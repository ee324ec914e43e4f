import { describe, expect, test } from 'vitest';
import { importTable } from './architecture/import-table.ts';
import * as rules from './architecture/rules.ts';
import { readSources, roomOf } from './architecture/source-files.ts';

const code = readSources(['src', 'workers', 'migrations', 'scripts']);
const tests = readSources(['test']);

describe('the code', () => {
  test('is there', () => {
    expect(code.length).toBeGreaterThan(100);
    expect(tests.length).toBeGreaterThan(20);
  });

  test('imports only what the table allows', () => {
    expect(rules.followsTheTable(code)).toEqual([]);
  });

  test('uses transports and stores only in their rooms', () => {
    expect(rules.keepsPackagesAtHome(code)).toEqual([]);
  });

  test('has workers that the service knows nothing of', () => {
    expect(rules.srcKnowsNoWorkers(code)).toEqual([]);
  });

  test('has no import that leads nowhere or is hidden', () => {
    expect(rules.leadsSomewhere(code)).toEqual([]);
  });

  test('has migrations that two releases can live with', () => {
    expect(rules.letsReleasesOverlap(code)).toEqual([]);
  });

  test('has no import loop of any kind', () => {
    expect(rules.hasNoLoops(code)).toEqual([]);
  });

  test('has no file over 300 lines', () => {
    expect(rules.keepsFilesShort([...code, ...tests])).toEqual([]);
  });

  test('has a median file of at most 80 lines', () => {
    expect(rules.keepsTheMedian(code)).toEqual([]);
  });

  test('has no barrels', () => {
    expect(rules.hasNoBarrels([...code, ...tests])).toEqual([]);
  });

  test('has file names in kebab-case', () => {
    expect(rules.namesFilesInKebabCase([...code, ...tests])).toEqual([]);
  });

  test('has a row of the table for every room', () => {
    const rooms = new Set(code.map(({ path }) => roomOf(path)));
    expect([...rooms].filter((room) => !(room in importTable))).toEqual([]);
  });
});

describe('the tests', () => {
  test('mock modules only in test/unit', () => {
    expect(rules.mocksModulesInUnitTestsOnly(tests)).toEqual([]);
  });

  test('leave nothing out', () => {
    expect(rules.leavesNoTestOut(tests)).toEqual([]);
  });
});
