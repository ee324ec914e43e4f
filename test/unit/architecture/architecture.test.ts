import { describe, expect, test } from 'vitest';
import { importTable } from './import-table.ts';
import * as rules from './rules.ts';
import { readSources, layerOf } from './source-files.ts';

const code = readSources([
  'src',
  'workers',
  'migrations',
  'bench',
  'chaos',
  'scripts',
  'packages/core/src',
  'packages/client/src',
  'packages/chat-adapter/src',
]);
const tests = readSources(['test']);

describe('the code', () => {
  test('is found', () => {
    expect(code.length).toBeGreaterThan(100);
    expect(tests.length).toBeGreaterThan(20);
  });

  test('imports only what the table allows', () => {
    expect(rules.followsImportTable(code)).toEqual([]);
  });

  test('uses repositories through a unit of work', () => {
    expect(rules.importsOnlyRowTypes(code)).toEqual([]);
  });

  test('uses packages only in their layers', () => {
    expect(rules.keepsPackagesInTheirModules(code)).toEqual([]);
  });

  test('imports nothing from Node where browsers load it', () => {
    expect(rules.keepsBrowserCodePortable(code)).toEqual([]);
  });

  test('does not import workers into the service', () => {
    expect(rules.srcDoesNotImportWorkers(code)).toEqual([]);
  });

  test('has no missing or hidden imports', () => {
    expect(rules.importsResolve(code)).toEqual([]);
  });

  test('has migrations that two releases can use', () => {
    expect(rules.migrationsSupportTwoReleases(code)).toEqual([]);
  });

  test('raises a version with each change of relations', () => {
    expect(rules.raisesRelationVersions(code.filter(({ path }) => /^(?:src|workers)\//.test(path)))).toEqual(
      [],
    );
  });

  test('has no import loop of any kind', () => {
    expect(rules.hasNoLoops(code)).toEqual([]);
  });

  test('has no file over 300 lines', () => {
    expect(rules.keepsFilesShort([...code, ...tests])).toEqual([]);
  });

  test('has no folder over 20 files', () => {
    expect(rules.keepsFoldersSmall([...code, ...tests])).toEqual([]);
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

  test('has a row of the table for every layer', () => {
    const layers = new Set(code.map(({ path }) => layerOf(path)));
    expect([...layers].filter((layer) => !(layer in importTable))).toEqual([]);
  });
});

describe('the tests', () => {
  test('mock modules only in test/unit', () => {
    expect(rules.mocksModulesInUnitTestsOnly(tests)).toEqual([]);
  });

  test('have no skipped or focused tests', () => {
    expect(rules.skipsNoTests(tests)).toEqual([]);
  });
});
