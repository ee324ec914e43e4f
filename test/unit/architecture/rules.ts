import { basename } from 'node:path';
import {
  importTable,
  indexFiles,
  mayLeaveOut,
  packageTable,
  separateFloors,
  importsByName,
} from './import-table.ts';
import { type ImportEdge, importsComputed, importsOf, roomOf, type SourceFile } from './source-files.ts';

/** Every rule answers what breaks it, one line each. */
type Rule = (files: readonly SourceFile[]) => string[];

const isOurs = ({ to }: ImportEdge): boolean => /^(?:src|workers|migrations|scripts|test)\//.test(to);
const line = ({ from, to }: ImportEdge): string => `${from} imports ${to}`;
const edges = (files: readonly SourceFile[]): ImportEdge[] => files.flatMap(importsOf);
const ownEdges = (files: readonly SourceFile[]): ImportEdge[] => edges(files).filter(isOurs);

/** The import table. A room without a row may import nothing, so that a new room is a decision. */
export const followsTheTable: Rule = (files) =>
  ownEdges(files)
    .filter(({ from, to }) => !isAllowed(roomOf(from), to))
    .map(line);

function isAllowed(room: string, to: string): boolean {
  const target = roomOf(to);
  if (target === room && !separateFloors.has(room)) return true;
  const file = to.replace(/^src\//, '').replace(/\.\w+$/, '');
  return importTable[room]?.some((entry) => entry === target || entry === file) ?? false;
}

/** Transports and stores stay in their rooms. */
export const keepsPackagesAtHome: Rule = (files) =>
  edges(files)
    .filter(
      (edge) => !isOurs(edge) && packageTable[packageOf(edge.to)]?.includes(roomOf(edge.from)) === false,
    )
    .map(line);

function packageOf(name: string): string {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}

/** The service never knows its workers; the worker decides what it consumes, never the producer. */
export const srcKnowsNoWorkers: Rule = (files) =>
  edges(files)
    .filter(({ from, to }) => from.startsWith('src/') && to.startsWith('workers/'))
    .map(line);

/**
 * Two releases share a schema while one replaces the other. A migration since the release before that takes away, renames or tightens
 * something says in its comment how both releases get by.
 */
export const letsReleasesOverlap: Rule = (files) =>
  files
    .filter(({ path }) => path.startsWith('migrations/') && basename(path) > lastOfPreviousRelease)
    .filter(({ text }) => takesAway.test(text.split('export async function down')[0] ?? ''))
    .filter(({ text }) => !/^(?:\/\*\*| \*|\/\/).*\brelease/m.test(text))
    .map(({ path }) => `${path} does not say how two releases live with it`);

/** Of the release that deploy/previous-release names. */
const lastOfPreviousRelease = '0037-audit-log.ts';

const takesAway =
  /\b(?:drop (?:column|table|constraint|not null)|drop\w*\(|rename|set not null|alter (?:column )?\w+ type)\b/i;

/** Every import leads to a file, so that the graph is whole; and none is hidden in a computed name. */
export const leadsSomewhere: Rule = (files) => {
  const known = new Set(files.map(({ path }) => path));
  const lost = ownEdges(files).filter(({ to }) => !known.has(to));
  const hidden = files.filter((file) => importsComputed(file) && !importsByName.has(file.path));
  return [...lost.map(line), ...hidden.map(({ path }) => `${path} imports a computed name`)];
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

export const longestFile = 300;
export const largestMedian = 80;

export const keepsFilesShort: Rule = (files) =>
  files
    .map((file) => ({ path: file.path, lines: lineCount(file) }))
    .filter(({ lines }) => lines > longestFile)
    .map(({ path, lines }) => `${path} has ${lines} lines, more than ${longestFile}`);

export const keepsTheMedian: Rule = (files) => {
  const counts = files.map(lineCount).sort((a, b) => a - b);
  const median = counts[Math.floor(counts.length / 2)] ?? 0;
  return median > largestMedian ? [`the median file has ${median} lines, more than ${largestMedian}`] : [];
};

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

const leftOut = /\b(?:test|it|describe)\s*\.(?:\w+\s*\.)*\s*(?:skip|only|todo|fails|skipIf)\b/;

export const leavesNoTestOut: Rule = (files) =>
  files
    .filter(({ path, text }) => leftOut.test(text) && !mayLeaveOut.has(path))
    .map(({ path }) => `${path} leaves tests out`);
