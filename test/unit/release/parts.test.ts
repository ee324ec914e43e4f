import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

interface LockedPackage {
  version: string;
  license?: string;
  dev?: boolean;
  link?: boolean;
}

/** Permissive licenses. Others need a note below. */
const permissive = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  'Python-2.0',
  'Unlicense',
]);

/** Packages without a permissive license in their record, with the reason why they are used. */
const notes: Record<string, string> = Object.fromEntries(
  ['darwin-arm64', 'darwin-x64', 'linux-arm', 'win32-x64'].map((platform) => [
    `@msgpackr-extract/msgpackr-extract-${platform}`,
    'a part of msgpackr-extract, which is MIT; the record of this platform names no license',
  ]),
);

test('every package of an installation has a permissive license', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const installed = Object.entries(packages).filter(([path, { dev, link }]) => path !== '' && !dev && !link);
  expect(installed.length).toBeGreaterThan(300);
  const others = installed.filter(([, { license = '' }]) =>
    // "(MIT OR GPL-3.0)" lets the user choose.
    license
      .replaceAll(/[()]/g, '')
      .split(' OR ')
      .every((name) => !permissive.has(name)),
  );
  const names = others.map(([path]) => path.replace(/^.*node_modules\//, ''));
  expect(names.toSorted()).toEqual(Object.keys(notes).toSorted());
});

test('npm writes the SBOM of a release', () => {
  const { stdout, stderr, status } = spawnSync(
    'npm',
    ['sbom', '--omit=dev', '--sbom-format=cyclonedx', '--package-lock-only'],
    { cwd: root, encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 },
  );
  expect(status, stderr).toBe(0);
  const { bomFormat, metadata, components } = JSON.parse(stdout);
  expect([bomFormat, metadata.component.purl]).toEqual([
    'CycloneDX',
    `pkg:npm/agent-messaging-service@${version}`,
  ]);
  const names = (components as { name: string }[]).map(({ name }) => name);
  expect(names).toContain('koa');
  expect(names).not.toContain('vitest');
});
