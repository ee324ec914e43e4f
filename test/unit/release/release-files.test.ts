import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { validate, ValidationCode } from 'dockerfile-utils';
import type * as workflowParser from '@actions/workflow-parser';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '../../..');
const read = (name: string): string => readFileSync(join(root, name), 'utf8');
const { version } = JSON.parse(read('package.json'));

/** GitHub's own parser. It imports JSON as only bundlers do, so it is bundled. */
async function loadWorkflowParser() {
  const { outputFiles } = await build({
    entryPoints: ['@actions/workflow-parser'],
    bundle: true,
    format: 'esm',
    write: false,
    absWorkingDir: root,
  });
  const parser: typeof workflowParser = await import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0]?.contents ?? []).toString('base64')}`
  );
  return parser;
}

interface Job {
  needs?: string | string[];
  permissions: Record<string, string>;
  steps: { uses?: string; run?: string }[];
}

describe('the release workflow', () => {
  const name = '.github/workflows/release.yml';
  const text = read(name);
  const { jobs } = parse(text) as { jobs: Record<string, Job> };

  test('is valid: fields, expressions and contexts', async () => {
    const { NoOperationTraceWriter, parseWorkflow } = await loadWorkflowParser();
    const check = (content: string) =>
      parseWorkflow({ name, content }, new NoOperationTraceWriter()).context.errors.getErrors();
    expect(check(text)).toEqual([]);
    // The parser notices mistakes.
    expect(check(text.replace('runs-on:', 'run-on:'))).not.toEqual([]);
    expect(check(text.replace('github.ref_name', 'github.ref_name ||'))).not.toEqual([]);
  });

  test('publishes only after the tests, and each job has only the rights that it names', () => {
    expect(jobs['packages']?.needs).toBe('test');
    expect(jobs['image']?.needs).toBe('test');
    expect(jobs['release']?.needs).toEqual(['packages', 'image']);
    expect(jobs['test']?.permissions).toEqual({ contents: 'read' });
    expect(text).toMatch(/^permissions: \{\}$/m);
    // Values that the author of a tag chooses never become part of a script.
    for (const { steps } of Object.values(jobs))
      for (const { run = '' } of steps) expect(run).not.toContain('${{');
  });

  test('tests, checks the parts and the chart, builds, signs, and attaches provenance and SBOMs', () => {
    const run = Object.values(jobs).flatMap(({ steps }) => steps.map((step) => step.run ?? ''));
    for (const command of [
      '.ci/run',
      'npm audit --omit=dev --audit-level=high',
      'npm sbom --omit=dev --sbom-format=cyclonedx',
      'npm publish',
      'helm lint --strict deploy/chart',
      'helm push',
    ])
      expect(run.join('\n')).toContain(command);
    // Every change is checked too; test/unit/release/parts.test.ts checks the SBOM and the licenses.
    expect(read('.ci/run')).toMatch(/^step audit audit$/m);
    expect(read('.ci/steps.sh')).toContain('npm audit --omit=dev --audit-level=high');
    expect(run.join('\n')).toMatch(/cosign sign --yes "\$\{IMAGE,,\}@\$digest"/);
    expect(run.join('\n')).toMatch(/npm publish .* --provenance/);
    // The lines of values.yaml that the workflow replaces, so that the published chart pins the image.
    expect(read('deploy/chart/values.yaml')).toMatch(/^ {2}repository: .*\n(?: {2}#.*\n)* {2}digest: ''$/m);
  });
});

describe('the image', () => {
  const dockerfile = read('Dockerfile');

  test('runs without root, checks its health, and accepts any command', () => {
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
    expect(last).toMatch(/^USER node$/m);
    expect(last).toMatch(/^HEALTHCHECK .*\\\n {2}CMD \[.*\/livez/m);
    expect(last).toMatch(/^CMD \["node", "dist\/src\/main\.js"\]$/m);
    expect(last).not.toContain('npm');
  });

  test('contains the files that pages load, under the names that pages use', () => {
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
    const { imports } = JSON.parse(read('package.json')) as { imports: Record<string, string> };
    expect(imports['#assets/*']).toBe('./assets/*');
    expect(last).toMatch(/^COPY assets \.\/assets$/m);
    expect(last).toMatch(/^COPY package\.json /m);
    expect(read('.dockerignore').split('\n')).toEqual(expect.arrayContaining(['!assets', '!docs/*.md']));
    expect(imports['#docs/*']).toBe('./docs/*');
    expect(last).toMatch(/^COPY docs\/\*\.md \.\/docs\/$/m);
    // The build copies these, with what they import.
    const imported = [...read('scripts/build-assets.mjs').matchAll(/^import .* from '\.\/(.*)';$/gm)];
    for (const file of ['build-assets.mjs', ...imported.map(([, path = '']) => path)]) {
      expect(dockerfile.split('\n')).toContain(`COPY scripts/${file} ./${dirname(`scripts/${file}`)}/`);
      expect(read('.dockerignore').split('\n')).toContain(`!scripts/${file}`);
    }
  });

  test('runs programs that the build creates', () => {
    const entries = [...`${dockerfile}\n${read('docker-compose.yml')}`.matchAll(/dist\/[\w/.-]+\.js/g)].map(
      ([entry]) => entry,
    );
    expect(new Set(entries)).toEqual(
      new Set(['dist/src/main.js', 'dist/workers/main.js', 'dist/src/cli/main.js']),
    );
    for (const entry of entries) expect(read(entry.replace('dist/', '').replace('.js', '.ts'))).not.toBe('');
  });

  test('passes the linter', () => {
    expect(validate(dockerfile)).toEqual([]);
    const [found] = validate(dockerfile.replace('USER node', 'USR node'));
    expect(found?.code).toBe(ValidationCode.UNKNOWN_INSTRUCTION);
  });

  test('copies only files that its context has', () => {
    const kept = read('.dockerignore')
      .split('\n')
      .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = '']) =>
      paths.split(' '),
    );
    expect(copied.length).toBeGreaterThan(8);
    expect(new Set(copied)).toEqual(new Set(kept));
  });

  test('is built for two architectures, with the version in its label, provenance and an SBOM', () => {
    const { variable, target } = JSON.parse(read('docker-bake.json'));
    expect(target.image).toMatchObject({
      platforms: ['linux/amd64', 'linux/arm64'],
      args: { VERSION: '${VERSION}', REVISION: '${REVISION}' },
      attest: ['type=provenance,mode=max', 'type=sbom'],
    });
    for (const name of Object.keys(target.image.args)) {
      expect(variable).toHaveProperty(name);
      expect(dockerfile).toMatch(new RegExp(`^ARG ${name}=`, 'm'));
    }
    expect(dockerfile).toContain('org.opencontainers.image.version="$VERSION"');
  });
});

describe('CHANGELOG.md', () => {
  const changelog = read('CHANGELOG.md');

  test('has the form of Keep a Changelog', () => {
    const kinds = ['Upgrade', 'Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
    const [first, ...releases] = [...changelog.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
    expect(first).toBe('[Unreleased]');
    for (const release of releases) expect(release).toMatch(/^\[\d+\.\d+\.\d+\]( - \d{4}-\d\d-\d\d)?$/);
    expect(releases.map((release) => release?.slice(1).split(']')[0])).toContain(version);
    for (const [, kind] of changelog.matchAll(/^### (.+)$/gm)) expect(kinds).toContain(kind);
  });

  test('the client library has the version of the service', () => {
    expect(JSON.parse(read('packages/client/package.json')).version).toBe(version);
  });
});

test('no package that users install runs a script of its own, unless it is optional', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { hasInstallScript?: boolean; dev?: boolean; optional?: boolean }>;
  };
  const withScripts = Object.entries(packages)
    .filter(([, { hasInstallScript, dev, optional }]) => hasInstallScript && !dev && !optional)
    .map(([path]) => path);
  expect(withScripts).toEqual([]);
});
