import { basename, dirname } from 'node:path';
import {
  browserLayers,
  importTable,
  indexFiles,
  skipAllowedFiles,
  packageTable,
  rowTypeLayers,
  computedImportFiles,
  unlimitedFolders,
} from './import-table.ts';
import { findUnraisedWrites } from './relation-writes.ts';
import { type ImportEdge, importsComputed, importsOf, layerOf, type SourceFile } from './source-files.ts';

/** Every rule answers what breaks it, one line each. */
type Rule = (files: readonly SourceFile[]) => string[];

const isOurs = ({ to }: ImportEdge): boolean =>
  /^(?:src|workers|migrations|bench|chaos|scripts|packages|test)\//.test(to);
const formatEdge = ({ from, to }: ImportEdge): string => `${from} imports ${to}`;
const listEdges = (files: readonly SourceFile[]): ImportEdge[] => files.flatMap(importsOf);
const listOwnEdges = (files: readonly SourceFile[]): ImportEdge[] => listEdges(files).filter(isOurs);

/** The import table. A layer without a row may import nothing: a new layer is a decision. */
export const followsImportTable: Rule = (files) =>
  listOwnEdges(files)
    .filter(({ from, to }) => !isAllowed(layerOf(from), layerOf(to)))
    .map((edge) => `${formatEdge(edge)}; its layer may import ${listAllowed(layerOf(edge.from))}`);

const listAllowed = (layer: string): string => importTable[layer]?.join(', ') ?? 'nothing: give it a row';

function isAllowed(from: string, to: string): boolean {
  return from === to || (importTable[from]?.includes(to) ?? false);
}

/** Layers above `work` know the rows, but get the repositories from it. */
export const importsOnlyRowTypes: Rule = (files) =>
  files
    .filter(({ path, text }) => rowTypeLayers.has(layerOf(path)) && valueOfRepositories.test(text))
    .map(({ path }) => `${path} imports a value of the repositories`);

const valueOfRepositories = /^(?:import|export) (?!type )[^;]*? from '(?:\.\.\/)+(?:src\/)?repositories\//m;

/** Packages stay in their layers. */
export const keepsPackagesInTheirModules: Rule = (files) =>
  listEdges(files)
    .filter(
      (edge) => !isOurs(edge) && packageTable[packageOf(edge.to)]?.includes(layerOf(edge.from)) === false,
    )
    .map(formatEdge);

/** What browsers load imports nothing of Node, and no package besides its own. */
export const keepsBrowserCodePortable: Rule = (files) =>
  listEdges(files)
    .filter(
      (edge) => !isOurs(edge) && browserLayers[layerOf(edge.from)]?.includes(packageOf(edge.to)) === false,
    )
    .map(formatEdge);

function packageOf(name: string): string {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}

/**
 * The service never knows its workers; the worker decides what it consumes, never the producer. Only `npm start` runs both in one process.
 */
export const srcDoesNotImportWorkers: Rule = (files) =>
  listEdges(files)
    .filter(
      ({ from, to }) => from.startsWith('src/') && layerOf(from) !== 'embedded' && to.startsWith('workers/'),
    )
    .map(formatEdge);

/**
 * From the first tagged release on, two releases share a schema while one replaces the other. A migration since the last tagged release that
 * takes away, renames or tightens something says in its comment how both releases get by.
 */
export const migrationsSupportTwoReleases: Rule = (files) =>
  files
    .filter(({ path }) => path.startsWith('migrations/') && basename(path) > lastMigrationOfPreviousRelease)
    .filter(({ text }) => destructiveStatement.test(text.split('export async function down')[0] ?? ''))
    .filter(({ text }) => !/^(?:\/\*\*| \*|\/\/).*\brelease/m.test(text))
    .map(({ path }) => `${path} does not say how two releases live with it`);

/** No release is tagged yet, so every migration is of the first one. The commit after its tag sets this to its last migration. */
const lastMigrationOfPreviousRelease = '9000';

const destructiveStatement =
  /\b(?:drop (?:column|table|constraint|not null)|drop\w*\(|rename|set not null|alter (?:column )?\w+ type)\b/i;

/** Every import leads to a file, so that the graph is whole; and none is hidden in a computed name. */
export const importsResolve: Rule = (files) => {
  const known = new Set(files.map(({ path }) => path));
  const lost = listOwnEdges(files).filter(({ to }) => !known.has(to) && !to.endsWith('.json'));
  const hidden = files.filter((file) => importsComputed(file) && !computedImportFiles.has(file.path));
  return [...lost.map(formatEdge), ...hidden.map(({ path }) => `${path} imports a computed name`)];
};

/** No file reaches itself, not even through types. */
export const hasNoLoops: Rule = (files) => {
  const next = new Map(files.map((file) => [file.path, importsOf(file).map(({ to }) => to)]));
  const done = new Set<string>();
  const loops: string[] = [];
  function walk(path: string, trail: readonly string[]): void {
    const start = trail.indexOf(path);
    if (start >= 0) loops.push([...trail.slice(start), path].join(' → '));
    if (start >= 0 || done.has(path)) return;
    for (const to of next.get(path) ?? []) walk(to, [...trail, path]);
    done.add(path);
  }
  for (const { path } of files) walk(path, []);
  return loops;
};

export const lineCount = ({ text }: SourceFile): number => text.trimEnd().split('\n').length;

export const maxFileLines = 300;
export const maxMedianLines = 80;

export const keepsFilesShort: Rule = (files) =>
  files
    .filter(({ path }) => !path.includes('/generated/'))
    .map((file) => ({ path: file.path, lines: lineCount(file) }))
    .filter(({ lines }) => lines > maxFileLines)
    .map(({ path, lines }) => `${path} has ${lines} lines, more than ${maxFileLines}`);

export const maxFolderSize = 20;

export const keepsFoldersSmall: Rule = (files) => {
  const counts = new Map<string, number>();
  for (const { path } of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts]
    .filter(([folder, count]) => count > maxFolderSize && !unlimitedFolders.has(folder))
    .map(
      ([folder, count]) =>
        `${folder} holds ${count} files, more than ${maxFolderSize}: move those of one topic to a folder`,
    );
};

export const keepsTheMedian: Rule = (files) => {
  const counts = files.map(lineCount).sort((a, b) => a - b);
  const median = counts[Math.floor(counts.length / 2)] ?? 0;
  return median > maxMedianLines ? [`the median file has ${median} lines, more than ${maxMedianLines}`] : [];
};

/** Authorization does not depend on memory: what changes relations raises their versions. */
export const raisesRelationVersions: Rule = findUnraisedWrites;

export const hasNoBarrels: Rule = (files) =>
  files
    .filter(({ path }) => basename(path).startsWith('index.') && !indexFiles.has(path))
    .map(({ path }) => `${path} is a barrel`);

const kebab = /^(?:[a-z0-9]+(?:-[a-z0-9]+)*\/)*[a-z0-9]+(?:-[a-z0-9]+)*(?:\.(?:test|d))?\.(?:tsx?|mjs)$/;

export const namesFilesInKebabCase: Rule = (files) =>
  files.filter(({ path }) => !kebab.test(path)).map(({ path }) => `${path} is not kebab-case`);

const moduleMock = /\bvi\s*\.\s*(?:mock|doMock)\b/;

export const mocksModulesInUnitTestsOnly: Rule = (files) =>
  files
    .filter(({ path, text }) => !path.startsWith('test/unit/') && moduleMock.test(text))
    .map(({ path }) => `${path} mocks a module`);

const skippedTest = /\b(?:test|it|describe)\s*\.(?:\w+\s*\.)*\s*(?:skip|only|todo|fails|skipIf)\b/;

export const skipsNoTests: Rule = (files) =>
  files
    .filter(({ path, text }) => skippedTest.test(text) && !skipAllowedFiles.has(path))
    .map(({ path }) => `${path} leaves tests out`);
