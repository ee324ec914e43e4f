import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { workerRoles } from '../../../src/config.ts';
import { queuesOfRole } from '../../../src/jobs/define.ts';
import { createValuesCheck } from '../../support/helm/values.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import {
  configOf,
  type KubernetesObject,
  missingGoReason,
  ofKind,
  renderAll,
  type RenderedChart,
  valueFiles,
  workloads,
} from './render.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
let chart: RenderedChart;

const packageOf = (apiVersion: string): string => {
  if (apiVersion.startsWith('keda.sh/')) return '@kubernetes-models/keda';
  return apiVersion.startsWith('monitoring.coreos.com/')
    ? '@kubernetes-models/prometheus-operator'
    : 'kubernetes-models';
};

describeUnless(missingGoReason, 'the chart with each of its value files', () => {
  beforeAll(() => {
    chart = renderAll();
  });
  afterAll(() => chart.remove());

  test('has values that its schema accepts, and there are six files', () => {
    expect(valueFiles.toSorted()).toEqual(['external', 'hpa', 'ingress', 'keda', 'minimal', 'roles']);
    const check = createValuesCheck();
    expect([...chart.releases].map(([name, { values }]) => [name, check(values)])).toEqual(
      valueFiles.map((name) => [name, []]),
    );
  });

  test('gives objects that the schemas of Kubernetes, KEDA and the Prometheus operator accept', async () => {
    const refused: string[] = [];
    for (const [name, { objects }] of chart.releases)
      for (const object of objects) {
        const { apiVersion, kind } = object;
        const module = await import(`${packageOf(apiVersion)}/${apiVersion}/${kind}`);
        try {
          new module[kind](object).validate();
        } catch (error) {
          refused.push(`${name} ${kind}: ${String(error)}`);
        }
      }
    expect(refused).toEqual([]);
  });

  test('gives objects without a field that these schemas do not know', () => {
    // A schema accepts unknown fields. The types of the same packages do not.
    mkdirSync(join(root, '.cache'), { recursive: true });
    const own = mkdtempSync(join(root, '.cache/chart-'));
    onTestFinished(() => rmSync(own, { recursive: true, force: true }));
    const checkTypes = (objects: readonly KubernetesObject[]) => {
      const lines = objects.map((object, position) => {
        const { apiVersion, kind } = object;
        return `import type { I${kind} as T${position} } from '${packageOf(apiVersion)}/${apiVersion}/${kind}';\nexport const o${position}: T${position} = ${JSON.stringify(object)};`;
      });
      writeFileSync(join(own, 'objects.ts'), lines.join('\n'));
      const options = [
        '--noEmit',
        '--ignoreConfig',
        '--strict',
        '--skipLibCheck',
        '--module',
        'nodenext',
        '--types',
        '',
        'objects.ts',
      ];
      return spawnSync(join(root, 'node_modules/.bin/tsc'), options, { cwd: own, encoding: 'utf8' }).stdout;
    };
    expect(checkTypes([...chart.releases.values()].flatMap(({ objects }) => objects))).toBe('');
    const [deployment] = structuredClone(ofKind(chart.get('minimal'), 'Deployment'));
    if (!deployment) throw new Error('no Deployment');
    deployment.spec.template.spec.containers[0].imagePulPolicy = 'Always';
    expect(checkTypes([deployment])).toContain('imagePulPolicy');
  });

  test('has names and labels of its release, each object once, and selectors that find the Pods', () => {
    for (const [name, release] of chart.releases) {
      const identities = release.objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
      expect(new Set(identities).size, name).toBe(identities.length);
      for (const { metadata } of release.objects) {
        expect(metadata.name).toMatch(/^ams-[a-z0-9-]{1,50}$/);
        expect(metadata.labels['app.kubernetes.io/instance']).toBe('ams');
      }
      const pods = workloads(release).map(({ spec }) => spec.template);
      const find = (labels: Record<string, string>) =>
        pods.filter(({ metadata }) =>
          Object.entries(labels).every(([key, value]) => metadata.labels[key] === value),
        );
      for (const { kind, metadata, spec } of release.objects) {
        const labels = spec?.selector?.matchLabels ?? spec?.podSelector?.matchLabels;
        if (kind === 'Deployment' || kind === 'PodDisruptionBudget')
          expect(find(labels), `${name} ${metadata.name}`).toHaveLength(1);
        if (kind === 'Service') expect(find(spec.selector).length, name).toBeGreaterThan(0);
        const isMigration = labels?.['app.kubernetes.io/component'] === 'migrate';
        if (kind === 'NetworkPolicy' && !isMigration) expect(find(labels).length, name).toBeGreaterThan(0);
        if (kind === 'Deployment') {
          for (const spread of spec.template.spec.topologySpreadConstraints)
            expect(spread.labelSelector.matchLabels).toEqual(labels);
        }
      }
      const budgets = ofKind(release, 'PodDisruptionBudget').map(({ metadata }) => metadata.name);
      expect(budgets).toEqual(ofKind(release, 'Deployment').map(({ metadata }) => metadata.name));
    }
  });

  test('lets only named peers in and, with a list, out', () => {
    const [api, worker, migrate] = ofKind(chart.get('external'), 'NetworkPolicy').map(({ spec }) => spec);
    const monitoring = {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } },
    };
    expect(api.ingress.map((rule: { ports: object[] }) => rule.ports)).toEqual([
      [{ port: 3000 }],
      [{ port: 9464 }],
    ]);
    expect(worker.ingress).toEqual([{ ports: [{ port: 9464 }], from: [monitoring] }]);
    expect(migrate.ingress).toEqual([]);
    for (const { egress, policyTypes } of [api, worker, migrate]) {
      expect(policyTypes).toEqual(['Ingress', 'Egress']);
      expect(egress).toHaveLength(4);
      expect(JSON.stringify(egress)).toContain('169.254.0.0/16');
    }
    const [open] = ofKind(chart.get('minimal'), 'NetworkPolicy').map(({ spec }) => spec);
    expect(open.policyTypes).toEqual(['Ingress']);
    expect(open.ingress).toEqual([
      { ports: [{ port: 3000 }] },
      { ports: [{ port: 9464 }], from: [{ podSelector: {} }] },
    ]);
  });

  test('serves the host of PUBLIC_URL through the Ingress, and trusts it as a proxy', () => {
    const [ingress] = ofKind(chart.get('ingress'), 'Ingress');
    expect(ingress?.spec).toMatchObject({
      ingressClassName: 'traefik',
      tls: [{ hosts: ['ams.example.com'], secretName: 'ams-tls' }],
      rules: [{ host: 'ams.example.com' }],
    });
    const [api] = ofKind(chart.get('ingress'), 'Deployment');
    expect(api && configOf(api).TRUST_PROXY).toBe(true);
    expect(ofKind(chart.get('minimal'), 'Ingress')).toEqual([]);
  });

  test('has a worker for every role, and its autoscaler reads the queues of its roles', () => {
    for (const name of valueFiles) {
      const workers = ofKind(chart.get(name), 'Deployment').filter(
        ({ metadata }) => metadata.name !== 'ams-api',
      );
      expect(new Set(workers.flatMap((worker) => configOf(worker).WORKER_ROLES))).toEqual(
        new Set(workerRoles),
      );
      const scalers = chart
        .get(name)
        .objects.filter(({ kind }) => /ScaledObject|HorizontalPodAutoscaler/.test(kind));
      const scaled = new Set(scalers.map(({ spec }) => spec.scaleTargetRef.name));
      // Both would set the number of replicas.
      for (const { metadata, spec } of ofKind(chart.get(name), 'Deployment'))
        expect(spec.replicas === undefined, metadata.name).toBe(scaled.has(metadata.name));
    }
    for (const worker of ofKind(chart.get('roles'), 'Deployment')) {
      const scaler = ofKind(chart.get('roles'), 'ScaledObject').find(
        ({ metadata }) => metadata.name === worker.metadata.name,
      );
      const queues = configOf(worker).WORKER_ROLES.flatMap((role) => queuesOfRole[role]);
      for (const { metadata } of scaler?.spec.triggers ?? [])
        expect(metadata.query).toContain(`queue=~"${queues.join('|')}"`);
    }
  });

  test('has the alerts and the dashboard of deploy/', () => {
    const [rules] = ofKind(chart.get('external'), 'PrometheusRule');
    expect(rules?.spec).toEqual(parse(read('deploy/prometheus/alerts.yml')));
    const [dashboard] = ofKind(chart.get('external'), 'ConfigMap');
    expect(JSON.parse(dashboard?.data?.['ams.json'] ?? '')).toEqual(
      JSON.parse(read('deploy/grafana/dashboard.json')),
    );
    expect(ofKind(chart.get('minimal'), 'PrometheusRule')).toEqual([]);
  });

  test('stops with the reason when something is missing', () => {
    const fails = (values: object) => () => chart.renderWith('minimal', values);
    expect(fails({ settings: { PUBLIC_URL: '' } })).toThrow('settings.PUBLIC_URL is required');
    expect(fails({ secrets: { SECRET_KEY: null } })).toThrow('secrets.SECRET_KEY is required');
    expect(fails({ workers: { main: { roles: ['delivery'] } } })).toThrow('no worker has the role');
    expect(fails({ api: { autoscaling: { type: 'keda' } } })).toThrow('monitoring.prometheusUrl is required');
    const some = { main: { roles: ['delivery'], autoscaling: { type: 'hpa' } } };
    expect(fails({ workers: some })).toThrow('need autoscaling.type keda');
  });

  test('is formatted as Go formats its renderer', () => {
    const found = execFileSync('gofmt', ['-l', join(root, 'test/support/helm/main.go')], {
      encoding: 'utf8',
    });
    expect(found).toBe('');
  });
});
