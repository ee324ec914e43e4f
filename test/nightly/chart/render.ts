import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { loadConfig } from '../../../src/config.ts';

const root = join(import.meta.dirname, '../../..');
const chart = join(root, 'deploy/chart');

/** Where Debian puts libraries for Go. */
const goPath = '/usr/share/gocode';

export const missingGoReason =
  spawnSync('go', ['version']).error || !existsSync(join(goPath, 'src/github.com/Masterminds/sprig'))
    ? 'no Go with sprig: on Debian, apt-get install golang-go golang-github-masterminds-sprig-dev golang-k8s-sigs-yaml-dev'
    : undefined;

export interface EnvironmentVariable {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef: { name: string; key: string } };
}

export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> };
  // The fields differ by kind; the tests check them against the schemas of Kubernetes first.
  // oxlint-disable-next-line typescript/no-explicit-any
  spec: any;
  data?: Record<string, string>;
}

export interface Rendered {
  values: Record<string, unknown>;
  objects: KubernetesObject[];
  notes: string;
}

/** The names of the value files in the chart. */
export const valueFiles = readdirSync(join(chart, 'ci')).map((file) => basename(file, '.yaml'));

/** Builds the renderer in a folder that the caller removes. Returns functions that run it. */
export function buildRenderer(folder: string) {
  const program = join(folder, 'render');
  execFileSync('go', ['build', '-o', program, 'main.go'], {
    cwd: join(root, 'test/support/helm'),
    env: {
      ...process.env,
      GO111MODULE: 'off',
      GOPATH: goPath,
      GOCACHE: join(root, '.cache/go'),
      GOFLAGS: '',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const run = (paths: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(program, [chart, 'ams', 'messaging', ...paths], {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    if (status !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as Rendered;
  };
  return {
    /** Renders the chart for a value file of the chart. @throws {Error} with the message of the template that fails. */
    render: (name: string) => run([join(chart, 'ci', `${name}.yaml`)]),
    /** Renders it with other values over those of the file. */
    renderWith(name: string, values: object) {
      const own = mkdtempSync(join(tmpdir(), 'ams-values-'));
      onTestFinished(() => rmSync(own, { recursive: true, force: true }));
      const path = join(own, 'values.yaml');
      writeFileSync(path, stringify(values));
      return run([join(chart, 'ci', `${name}.yaml`), path]);
    },
  };
}

/** The objects of a kind, by name. */
export const ofKind = ({ objects }: Pick<Rendered, 'objects'>, kind: string): KubernetesObject[] =>
  objects.filter((object) => object.kind === kind);

/** Deployments and Jobs of one release. */
export const workloads = ({ objects }: Rendered): KubernetesObject[] =>
  objects.filter(({ kind }) => kind === 'Deployment' || kind === 'Job');
export const containerOf = ({ spec }: KubernetesObject) => spec.template.spec.containers[0];
export const environmentOf = (workload: KubernetesObject): EnvironmentVariable[] => containerOf(workload).env;

/** What the service reads in a Pod: the values, and a valid text for each Secret. */
export function configOf(workload: KubernetesObject) {
  const secrets: Record<string, string> = {
    DATABASE_URL: 'postgres://db',
    DATABASE_DIRECT_URL: 'postgres://db',
    DATABASE_REPLICA_URL: 'postgres://db-r',
    REDIS_URL: 'redis://redis',
    SMTP_URL: 'smtp://mail',
  };
  const env = environmentOf(workload).map(({ name, value }) => [
    name,
    value ?? secrets[name] ?? '0123456789abcdef'.repeat(3),
  ]);
  return loadConfig(Object.fromEntries(env) as Record<string, string>);
}

/** The chart with each of its value files, and with other values. */
export type RenderedChart = ReturnType<typeof renderAll>;

/** Renders the chart with each of its value files. */
export function renderAll() {
  const folder = mkdtempSync(join(tmpdir(), 'ams-chart-'));
  const renderer = buildRenderer(folder);
  const releases = new Map(valueFiles.map((name) => [name, renderer.render(name)]));
  return {
    releases,
    get(name: string): Rendered {
      const release = releases.get(name);
      if (!release) throw new Error(`the chart has no value file ${name}`);
      return release;
    },
    renderWith: renderer.renderWith,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
