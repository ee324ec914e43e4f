import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type ScopePreset, scopePresets, scopes } from '../../packages/core/src/domain/auth/scopes.ts';
import { errorStatuses } from '../../packages/core/src/domain/errors.ts';
import { eventTypes } from '../../packages/core/src/events/list.ts';
import { renderToolTable } from '../../scripts/client/tool-table.ts';
import { catalogue } from '../../src/operations/catalogue.ts';
import { presetNames } from '../../src/transports/console/pages/auth/scopes.tsx';
import { stopSeconds } from '../support/stop-seconds.ts';
import { readSources } from './architecture/source-files.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const listMarkdown = (folder: string): string[] =>
  readdirSync(join(root, folder)).filter((name) => name.endsWith('.md'));
const decisions = listMarkdown('docs/decisions').filter((name) => name !== 'README.md');
const pages = [
  ...listMarkdown('.'),
  ...listMarkdown('docs').map((name) => `docs/${name}`),
  ...listMarkdown('docs/decisions').map((name) => `docs/decisions/${name}`),
];

const withoutCode = (text: string): string => text.replaceAll(/^```[^]*?^```$/gm, '');

/** The anchors of a page, made from its headings as GitHub does. */
function listAnchors(page: string): string[] {
  const headings = withoutCode(read(page)).matchAll(/^#+ (.+)$/gm);
  return Array.from(headings, ([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('every link within the documentation leads to a file and a heading that exist', () => {
  const broken = pages.flatMap((page) =>
    Array.from(withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g), ([, link = '']) => link)
      .filter((link) => !/^https?:/.test(link))
      .filter((link) => {
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? page : normalize(join(dirname(page), path));
        if (!existsSync(join(root, target))) return true;
        return anchor !== undefined && !listAnchors(target).includes(anchor);
      })
      .map((link) => `${page}: ${link}`),
  );
  expect(broken).toEqual([]);
});

test('every page is reachable from an index', () => {
  const index = ['README.md', 'docs/README.md', 'docs/decisions/README.md'].map(read).join('\n');
  expect(
    pages.filter((page) => !page.endsWith('README.md') && !index.includes(page.split('/').at(-1) ?? page)),
  ).toEqual([]);
});

test('the pages name only files of the repository that exist', () => {
  const path = /`((?:src|workers|test|bench|chaos|migrations|packages|deploy|scripts|assets)\/[\w./-]+)`/g;
  const missing = pages.flatMap((page) =>
    Array.from(withoutCode(read(page)).matchAll(path), ([, name = '']) => name)
      .filter((name) => !existsSync(join(root, name)))
      .map((name) => `${page}: ${name}`),
  );
  expect(missing).toEqual([]);
});

test('the code names only pages that exist', () => {
  const sources = [
    ...readSources(['src', 'workers', 'bench', 'chaos', 'scripts', 'test']),
    ...['docker-compose.yml', '.env.example', 'deploy/prometheus/alerts.yml'].map((path) => ({
      path,
      text: read(path),
    })),
  ];
  const missing = sources.flatMap(({ path, text }) =>
    Array.from(text.matchAll(/\bdocs\/[\w/-]+\.md\b/g), ([name]) => name)
      .filter((name) => !existsSync(join(root, name)))
      .map((name) => `${path}: ${name}`),
  );
  expect(missing).toEqual([]);
});

test('the README has at most 150 lines and states the test command', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(150);
  expect(read('README.md')).toContain('**The test command is `npm test`.**');
});

test('decisions are numbered without a gap, short, dated, with a status, and listed', () => {
  expect(decisions.length).toBeLessThanOrEqual(24);
  const index = read('docs/decisions/README.md');
  for (const [position, name] of decisions.entries()) {
    const number = String(position + 1).padStart(4, '0');
    const text = read(`docs/decisions/${name}`);
    expect(text).toMatch(new RegExp(`^# ${number}: .+\\n\\nDate: \\d{4}-\\d\\d-\\d\\d\\. Status: .+\\n`));
    expect(text.split('\n').length, name).toBeLessThanOrEqual(60);
    expect(text.match(/\S*\w\S*/g)?.length, name).toBeLessThanOrEqual(550);
    expect(index).toContain(`(${name})`);
  }
});

test('docs/configuration.md lists exactly the settings', () => {
  const settings = Array.from(
    read('src/config.ts').matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm),
    ([, name = '']) => name,
  );
  const rows = read('docs/configuration.md').match(/^\| `[A-Z].*?\|/gm) ?? [];
  const listed = rows.flatMap((row) => Array.from(row.matchAll(/`([A-Z0-9_]+)`/g), ([, name = '']) => name));
  expect(listed.sort()).toEqual([...new Set(settings)].sort());
});

test('docs/operations.md states how long a stop can take', () => {
  const section = read('docs/operations.md').split('\n## Stop\n')[1]?.split('\n## ')[0] ?? '';
  const rows = Array.from(section.matchAll(/^\|[^|]+\|([^|]+)\|[^|]+\|([^|]+)\|$/gm));
  const sumColumn = (column: number) =>
    rows.reduce((sum, row) => sum + Number(/([\d.]+) s/.exec(row[column] ?? '')?.[1] ?? 0), 0);
  expect({ api: sumColumn(1), worker: sumColumn(2) }).toEqual(stopSeconds);
  expect(Number(/^Allow (\d+) s plus `DRAIN_SECONDS`/m.exec(section)?.[1])).toBeGreaterThan(stopSeconds.api);
});

test('docs/api.md lists every operation, error code and event type', () => {
  const page = read('docs/api.md');
  const operations = catalogue.flatMap(({ rest }) => (rest ? [`\`${rest.method} ${rest.path}\``] : []));
  const names = [...Object.keys(errorStatuses), ...eventTypes].map((name) => `\`${name}\``);
  expect([...operations, ...names].filter((name) => !page.includes(name))).toEqual([]);
});

test('docs/mcp.md has the table of tools: otherwise run npm run generate', () => {
  expect(read('docs/mcp.md')).toContain(`\n## Tools\n\n${renderToolTable()}\n\n`);
});

test('docs/scopes.md lists every scope, and the presets with their scopes', () => {
  const page = read('docs/scopes.md');
  const namesIn = (row: string) => Array.from(row.matchAll(/`(\w+:\w+)`/g), ([, name = '']) => name);
  const table = page.slice(0, page.indexOf('## Presets')).match(/^\| `.*?\|/gm) ?? [];
  expect(table.flatMap(namesIn).toSorted()).toEqual(scopes.toSorted());

  const presets = page.match(/^\| [A-Z].*\| `[a-z][a-z-]*` \|.*$/gm) ?? [];
  const counts = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
  let smaller: string[] = [];
  const listed = presets.map((row) => {
    const [title = '', option = '', contents = ''] = row
      .split('|')
      .slice(1)
      .map((cell) => cell.trim());
    const all = contents === `all ${counts[scopes.length]}`;
    const sum = [...(contents.startsWith('these and') ? smaller : []), ...namesIn(contents)];
    smaller = all ? [...scopes] : sum;
    return [option, title, smaller.toSorted()];
  });
  const expected = Object.entries<readonly string[]>(scopePresets).map(([name, granted]) => [
    `\`${name}\``,
    presetNames[name as ScopePreset],
    granted.toSorted(),
  ]);
  expect(listed).toEqual(expected);
  expect(page).toContain('The default of both is **Agent**.');
});
