import { describe, expect, test } from 'vitest';
import * as allRules from './rules.ts';
import type { SourceFile } from './source-files.ts';

const file = (path: string, text = ''): SourceFile => ({ path, text });
const long = (count: number): string => 'x;\n'.repeat(count);

const { lineCount: _1, maxFileLines: _2, maxMedianLines: _3, maxFolderSize: _4, ...rules } = allRules;

/** A call as a test file holds it; in pieces, so that this file holds none itself. */
const call = (...name: string[]): string => `${name.join('.')}('x', () => {});`;

/** Each rule against the smallest tree that breaks it, and against its nearest neighbour that does not. */
const trees: [rule: keyof typeof rules, what: string, bad: SourceFile[], good: SourceFile[]][] = [
  [
    'followsImportTable',
    'a value import upwards',
    [file('packages/core/src/domain/a.ts', "import { b } from '../services/b.ts';")],
    [file('src/services/b.ts', "import { a } from '../work/a.ts';")],
  ],
  [
    'followsImportTable',
    'a type import',
    [file('src/repositories/a.ts', "import type { B } from '../services/b.ts';")],
    [file('src/work/b.ts', "import type { A } from '../jobs/a.ts';")],
  ],
  [
    'importsOnlyRowTypes',
    'a value of the repositories',
    [file('src/services/a/b.ts', "import { type Row, c } from '../../repositories/c.ts';")],
    [file('src/services/a/b.ts', "import type { Row } from '../../repositories/c.ts';")],
  ],
  [
    'followsImportTable',
    'a re-export',
    [file('src/jobs/a.ts', "export * from '../platform/b.ts';")],
    [file('src/platform/b.ts', "export type { A } from '../jobs/define.ts';")],
  ],
  [
    'followsImportTable',
    'a lazy import',
    [file('packages/core/src/policies/a.ts', "const b = await import('../services/b.ts');")],
    [file('packages/core/src/policies/a.ts', "const b = await import('./b.ts');")],
  ],
  [
    'followsImportTable',
    'an import for its effect',
    [file('src/config.ts', "import './services/a.ts';")],
    [file('src/compose.ts', "import './services/a.ts';")],
  ],
  [
    'followsImportTable',
    'a transport that imports another transport',
    [file('src/transports/rest/a.ts', "import { b } from '../mcp/b.ts';")],
    [file('src/transports/rest/a.ts', "import { b } from '../http/b.ts';")],
  ],
  [
    'followsImportTable',
    'a layer without a row',
    [file('src/attic/a.ts', "import { b } from '../jobs/b.ts';")],
    [file('src/attic/a.ts', "import { b } from './b.ts';")],
  ],
  [
    'followsImportTable',
    'an import over several lines, beside comments and a text with /*',
    [
      file(
        'packages/core/src/domain/a.ts',
        'const t = \'application/*+json\';\nexport const f = (x: string): string => x;\nimport {\n  b,\n} from "../http/b.ts";\n/* end */',
      ),
    ],
    [
      file(
        'packages/core/src/domain/a.ts',
        "/** As\n * import { b } from '../http/b.ts';\n */\n// import('../http/b.ts')\n",
      ),
    ],
  ],
  [
    'keepsPackagesInTheirModules',
    'Koa in a use case',
    [file('src/services/a.ts', "import type { Context } from 'koa';")],
    [file('src/transports/rest/a.ts', "import type { Context } from 'koa';")],
  ],
  [
    'keepsPackagesInTheirModules',
    'a path inside a package',
    [file('src/operations/a.ts', "import { S } from '@modelcontextprotocol/sdk/server/index.js';")],
    [file('src/transports/mcp/a.ts', "import { S } from '@modelcontextprotocol/sdk/server/index.js';")],
  ],
  [
    'keepsBrowserCodePortable',
    'a module of Node in a library for browsers',
    [file('packages/client/src/events/a.ts', "import { join } from 'node:path';")],
    [
      file('packages/client/src/node/a.ts', "import { join } from 'node:path';"),
      file('packages/client/src/b.ts'),
    ],
  ],
  [
    'srcDoesNotImportWorkers',
    'a producer that imports a handler',
    [file('src/jobs/a.ts', "import { b } from '../../workers/b.ts';")],
    [file('workers/b.ts', "import { a } from '../src/jobs/a.ts';")],
  ],
  [
    'importsResolve',
    'a file that is not there',
    [file('packages/core/src/domain/a.ts', "import { b } from './b.ts';")],
    [
      file('packages/core/src/domain/a.ts', "import { b } from './b.ts';"),
      file('packages/core/src/domain/b.ts'),
    ],
  ],
  [
    'importsResolve',
    'a computed import',
    [file('packages/core/src/domain/a.ts', 'await import(`./${name}.ts`);')],
    [file('scripts/run.mjs', 'await import(name);')],
  ],
  [
    'migrationsSupportTwoReleases',
    'a migration that takes away what an older release uses',
    [
      file(
        'migrations/9999-a.ts',
        "export async function up() { await raw('alter table a drop column b'); }",
      ),
    ],
    [
      file('migrations/0001-b.ts', "export async function up() { await raw('drop table b'); }"),
      file('migrations/9998-c.ts', "export async function down() { await raw('drop table c'); }"),
      file(
        'migrations/9999-a.ts',
        "/** No release since 0.3 names it. */\nexport async function up() { await raw('drop table a'); }",
      ),
    ],
  ],
  [
    'hasNoLoops',
    'a loop through a type and a lazy import',
    [
      file('packages/core/src/domain/a.ts', "import type { B } from './b.ts';"),
      file('packages/core/src/domain/b.ts', "import('./c.ts');"),
      file('packages/core/src/domain/c.ts', "export * from './a.ts';"),
    ],
    [
      file('packages/core/src/domain/a.ts', "import './b.ts';\nimport './c.ts';"),
      file('packages/core/src/domain/b.ts', "import './c.ts';"),
      file('packages/core/src/domain/c.ts'),
    ],
  ],
  ['hasNoLoops', 'a file that imports itself', [file('src/a.ts', "import './a.ts';")], [file('src/a.ts')]],
  ['keepsFilesShort', '301 lines', [file('src/a.ts', long(301))], [file('src/a.ts', long(300))]],
  [
    'keepsFoldersSmall',
    'a folder of 21 files',
    Array.from({ length: 21 }, (_, index) => file(`packages/core/src/domain/a${index}.ts`)),
    [
      ...Array.from({ length: 20 }, (_, index) => file(`packages/core/src/domain/a${index}.ts`)),
      file('packages/core/src/domain/feed/a.ts'),
      ...Array.from({ length: 21 }, (_, index) => file(`migrations/a${index}.ts`)),
    ],
  ],
  [
    'keepsTheMedian',
    'most files long',
    [file('src/a.ts', long(81)), file('src/b.ts', long(90)), file('src/c.ts', long(1))],
    [file('src/a.ts', long(80)), file('src/b.ts', long(300)), file('src/c.ts', long(1))],
  ],
  [
    'raisesRelationVersions',
    'a deletion of relations',
    [file('src/a.ts', "const text = 'delete from blocks where agent_id = $1';")],
    [
      file(
        'src/a.ts',
        "const text = 'delete from blocks where agent_id = $1 returning agent_id as raised_id';",
      ),
      file(
        'src/b.ts',
        "const text = 'delete from blocks where agent_id = $1 /* no version: it only permits */';",
      ),
      file('src/c.ts', "const text = 'delete from webhooks where agent_id = $1';"),
    ],
  ],
  [
    'raisesRelationVersions',
    'an update of a column that sends depend on, after a comma',
    [file('src/a.ts', '`update agents a set\n  display_name = f(1, 2), paused = true where id = :id`')],
    [file('src/a.ts', '`update agents a set display_name = f(1, 2) where paused = true`')],
  ],
  [
    'raisesRelationVersions',
    'a new member, in the middle of a statement',
    [file('workers/a.ts', '`with thread as (select 1)\ninsert into thread_members (agent_id) values (:id)`')],
    [file('workers/a.ts', '`with thread as (select 1)\ninsert into threads (id) values (:id)`')],
  ],
  ['hasNoBarrels', 'an index.ts', [file('src/services/index.ts')], [file('src/jobs/outbox-jobs.ts')]],
  [
    'namesFilesInKebabCase',
    'a file in camel case',
    [file('src/unitOfWork.ts')],
    [
      file('src/work/unit-of-work.ts'),
      file('src/transports/console/a-b.tsx'),
      file('test/unit/a-b.test.ts'),
      file('src/transports/oauth/oidc-provider.d.ts'),
    ],
  ],
  ['namesFilesInKebabCase', 'a folder in snake case', [file('src/two_words/a.ts')], [file('src/two/a.ts')]],
  [
    'mocksModulesInUnitTestsOnly',
    'a mock among real servers',
    [file('test/integration/a.test.ts', call('vi', 'mock'))],
    [file('test/unit/a.test.ts', call('vi', 'mock'))],
  ],
  [
    'skipsNoTests',
    'a test that runs alone',
    [file('test/unit/a.test.ts', call('test', 'only'))],
    [file('test/unit/a.test.ts', "test('only one', () => {});")],
  ],
  [
    'skipsNoTests',
    'a table of tests that is skipped',
    [file('test/unit/a.test.ts', call('describe', 'concurrent', 'skip'))],
    [file('test/support/vitest/describe-unless.ts', call('test', 'skip'))],
  ],
];

describe.each(trees)('%s', (name, what, bad, good) => {
  const rule = new Map(Object.entries(rules)).get(name);
  test(`finds ${what}`, () => {
    expect(rule?.(bad)).toHaveLength(1);
    expect(rule?.(good)).toEqual([]);
  });
});

test('every rule has a case', () => {
  const tried = new Set<string>(trees.map(([name]) => name));
  expect(Object.keys(rules).filter((name) => !tried.has(name))).toEqual([]);
});

test('an import loop is reported as its path', () => {
  const loop = [file('src/a.ts', "import './b.ts';"), file('src/b.ts', "import './a.ts';")];
  expect(rules.hasNoLoops(loop)).toEqual(['src/a.ts → src/b.ts → src/a.ts']);
});
