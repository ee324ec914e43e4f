import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { queuesOfRole } from '../../../src/jobs/define.ts';
import { createValuesCheck, valuesSchema } from '../../support/helm/values.ts';

const root = join(import.meta.dirname, '../../..');
const chart = join(root, 'deploy/chart');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const values = parse(read('deploy/chart/values.yaml'));

/** Settings that the chart sets itself, with the reason. */
const fixed: Record<string, string> = {
  PORT: 'probes, Services and policies name it',
  OPS_PORT: 'probes, Services and policies name it',
  DATA_DIR: 'where the volume is',
  WORKER_ROLES: 'workers.*.roles',
  WORKER_CONCURRENCY: 'workers.*.concurrency',
};

/** With the defaults, as Helm passes them to the schema. */
function withDefaults(defaults: Record<string, unknown>, own: Record<string, unknown>) {
  const merged: Record<string, unknown> = { ...defaults };
  for (const [key, value] of Object.entries(own)) {
    const isBoth = [value, defaults[key]].every((each) => typeof each === 'object' && each !== null);
    merged[key] =
      isBoth && !Array.isArray(value)
        ? withDefaults(defaults[key] as Record<string, unknown>, value as Record<string, unknown>)
        : value;
  }
  return merged;
}

test('the chart has the version of the service', () => {
  const { version } = JSON.parse(read('package.json'));
  expect(parse(read('deploy/chart/Chart.yaml'))).toMatchObject({ version, appVersion: version });
});

test('every setting is a value of the chart, or the chart sets it', () => {
  const settings = Array.from(
    read('src/config.ts').matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm),
    ([, name = '']) => name,
  );
  const { settings: plain, secrets } = valuesSchema.properties;
  const names = [...Object.keys(plain.properties), ...Object.keys(secrets.properties), ...Object.keys(fixed)];
  expect(names.toSorted()).toEqual([...new Set(settings)].toSorted());
  // A password never becomes a plain value.
  const secret = Object.keys(plain.properties).filter((name) =>
    /PASSWORD|SECRET(?!S)|ACCESS_KEY|^(?:DATABASE|REDIS|SMTP)_URL/.test(name),
  );
  expect(secret).toEqual([]);
});

test('the autoscalers know the queues of each role', () => {
  const [, names = ''] =
    /\$queues := dict ([^}]*[^ }])/.exec(read('deploy/chart/templates/autoscaling.yaml')) ?? [];
  const words = Array.from(names.matchAll(/"([^"]*)"/g), ([, word = '']) => word);
  expect(words).toEqual(Object.entries(queuesOfRole).flatMap(([role, queues]) => [role, queues.join('|')]));
});

test('the schema describes every value, and nothing else', () => {
  const check = createValuesCheck();
  expect(check(values)).toEqual([]);
  expect(Object.keys(valuesSchema.properties).toSorted()).toEqual(
    [...Object.keys(values), 'global'].toSorted(),
  );
  for (const file of readdirSync(join(chart, 'ci'))) {
    const own = parse(read(`deploy/chart/ci/${file}`));
    expect(check(withDefaults(values, own)), file).toEqual([]);
  }
});

test('the guide installs the chart from a registry, and waits longer than the migration can take', () => {
  const [, section = ''] = read('docs/deployment.md').split('\n## Kubernetes\n');
  const own = parse(/^```yaml\n([^]+?)^```$/m.exec(section)?.[1] ?? '');
  expect(createValuesCheck()(withDefaults(values, own))).toEqual([]);
  expect(own.image.repository).toMatch(/^[\w.-]+\.\w+\//);
  const [, minutes] = /helm upgrade .*--wait --timeout (\d+)m$/m.exec(section) ?? [];
  expect(Number(minutes) * 60).toBeGreaterThan(values.migrate.timeoutSeconds);
});

test.each([
  ['an unknown setting', { settings: { PUBLIC_ADDRESS: 'https://x.example' } }, 'PUBLIC_ADDRESS'],
  ['a password that is not in a Secret', { settings: { OPERATOR_PASSWORD: 'x' } }, 'OPERATOR_PASSWORD'],
  ['a secret as a text', { secrets: { SECRET_KEY: 'x' } }, '/secrets/SECRET_KEY'],
  ['a number in quotes', { settings: { DRAIN_SECONDS: '5' } }, '/settings/DRAIN_SECONDS'],
  ['an unknown role', { workers: { main: { roles: ['mail'] } } }, '/workers/main/roles/0'],
  ['an unknown value', { replicas: 3 }, 'replicas'],
  ['a digest of another kind', { image: { digest: 'latest' } }, '/image/digest'],
])('the schema refuses %s', (_, own, place) => {
  expect(createValuesCheck()(withDefaults(values, own)).join('\n')).toContain(place);
});

test('alerts and dashboard of the chart are the files of deploy/', () => {
  for (const [name, target] of [
    ['alerts.yml', 'deploy/prometheus/alerts.yml'],
    ['dashboard.json', 'deploy/grafana/dashboard.json'],
  ] as const) {
    // Helm follows symbolic links when it reads and packages a chart.
    expect(lstatSync(join(chart, 'files', name)).isSymbolicLink()).toBe(true);
    expect(realpathSync(join(chart, 'files', name))).toBe(realpathSync(join(root, target)));
  }
});

test('every value that a template reads has a default', () => {
  const templates = readdirSync(join(chart, 'templates')).map((file) =>
    read(`deploy/chart/templates/${file}`),
  );
  const paths = templates.flatMap((text) =>
    [...text.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => path),
  );
  expect(paths.length).toBeGreaterThan(40);
  const isKnown = (path: string) =>
    path
      .split('.')
      .reduce<unknown>((under, key) => (under as Record<string, unknown> | undefined)?.[key], values) !==
    undefined;
  expect(paths.filter((path) => !isKnown(path))).toEqual([]);
});
