import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The files that npm packs, without building them again. */
function listPackedFiles(): string[] {
  const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
  });
  const [{ files }] = JSON.parse(stdout);
  return (files as { path: string }[]).map(({ path }) => path);
}

const packed = listPackedFiles();

test('the package has every program, migration and asset, and no other files', () => {
  const programs = ['src/main', 'workers/main', 'src/cli/main', 'src/embedded/main'];
  for (const program of programs) expect(packed).toContain(`dist/${program}.js`);
  expect(packed).toContain(about.bin.ams);
  for (const name of readdirSync(join(root, 'migrations')))
    expect(packed).toContain(`dist/migrations/${name.replace(/ts$/, 'js')}`);
  for (const name of readdirSync(join(root, 'assets'))) expect(packed).toContain(`assets/${name}`);
  const folders = new Set(packed.map((path) => path.split('/').slice(0, 2).join('/')));
  const expected = [
    'dist/assets',
    'dist/clients',
    'dist/migrations',
    'dist/packages',
    'dist/src',
    'dist/workers',
  ];
  expect([...folders].filter((folder) => folder.startsWith('dist/')).toSorted()).toEqual(expected);
  for (const name of readdirSync(join(root, 'docs')).filter((one) => one.endsWith('.md')))
    expect(packed).toContain(`docs/${name}`);
  const others = packed.filter((path) => !/^(dist\/|assets\/|docs\/[\w-]+\.md$)/.test(path)).toSorted();
  expect(others).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'].toSorted());
});

test('programs of the package import only files of the package and installed dependencies', () => {
  const available = new Set([
    ...Object.keys(about.dependencies),
    ...builtinModules,
    ...builtinModules.map((name) => `node:${name}`),
  ]);
  const files = new Set(packed);
  const imports = /^(?:import|export) (?:[^'\n]* from )?'([^'\n]+)';$|\bimport\('([^']+)'\)/gm;
  const isAvailable = (path: string, name: string) =>
    name.startsWith('.')
      ? files.has(join(path, '..', name))
      : available.has(name) || available.has(/^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? '');
  const missing = packed
    // Scripts of pages in `assets` are bundled by the build.
    .filter((path) => /^dist\/.*\.js$/.test(path) && existsSync(join(root, path)))
    .flatMap((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return Array.from(text.matchAll(imports), ([, statement, call]) => statement ?? call ?? '')
        .filter((name) => !isAvailable(path, name))
        .map((name) => `${path}: ${name}`);
    });
  expect(missing).toEqual([]);
});
