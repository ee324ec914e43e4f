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

  test.each([
    ['imports only what the table allows', rules.followsImportTable, code],
    ['uses repositories through a unit of work', rules.importsOnlyRowTypes, code],
    ['uses packages only in their layers', rules.keepsPackagesInTheirModules, code],
    ['imports nothing from Node where browsers load it', rules.keepsBrowserCodePortable, code],
    ['does not import workers into the service', rules.srcDoesNotImportWorkers, code],
    ['has no missing or hidden imports', rules.importsResolve, code],
    ['has migrations that two releases can use', rules.migrationsSupportTwoReleases, code],
    [
      'raises a version with each change of relations',
      rules.raisesRelationVersions,
      code.filter(({ path }) => /^(?:src|workers)\//.test(path)),
    ],
    ['has no import loop of any kind', rules.hasNoLoops, code],
    ['has no file over 300 lines', rules.keepsFilesShort, [...code, ...tests]],
    ['has no folder over 20 files', rules.keepsFoldersSmall, [...code, ...tests]],
    ['has a median file of at most 80 lines', rules.keepsTheMedian, code],
    ['has no barrels', rules.hasNoBarrels, [...code, ...tests]],
    ['has file names in kebab-case', rules.namesFilesInKebabCase, [...code, ...tests]],
  ])('%s', (_, findViolations, files) => {
    expect(findViolations(files)).toEqual([]);
  });

  test('has a row of the table for every layer', () => {
    const layers = new Set(code.map(({ path }) => layerOf(path)));
    expect([...layers].filter((layer) => !(layer in importTable))).toEqual([]);
  });
});

describe('the tests', () => {
  test.each([
    ['mock modules only in test/unit', rules.mocksModulesInUnitTestsOnly],
    ['have no skipped or focused tests', rules.skipsNoTests],
  ])('%s', (_, findViolations) => {
    expect(findViolations(tests)).toEqual([]);
  });
});
