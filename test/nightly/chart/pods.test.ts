import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stopSeconds } from '../../support/stop-seconds.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import {
  configOf,
  containerOf,
  environmentOf,
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

describeUnless(missingGoReason, 'the Pods of the chart', () => {
  beforeAll(() => {
    chart = renderAll();
  });
  afterAll(() => chart.remove());

  test('runs every process without rights, on a root file system that it cannot write to', () => {
    for (const workload of [...chart.releases.values()].flatMap(workloads)) {
      const pod = workload.spec.template.spec;
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      });
      const container = containerOf(workload);
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      const volumes = pod.volumes.map((volume: { name: string }) => volume.name);
      const mounts = container.volumeMounts.map((mount: { name: string }) => mount.name);
      expect(mounts).toEqual(volumes);
      expect(Object.keys(container.resources)).toEqual(['limits', 'requests']);
      const [, entry] = container.command;
      expect(read(entry.replace('dist/', '').replace('.js', '.ts'))).not.toBe('');
    }
  });

  test('names the image by its digest when there is one', () => {
    const image = (name: string) =>
      new Set(workloads(chart.get(name)).map((each) => containerOf(each).image));
    const { version } = JSON.parse(read('package.json'));
    expect([...image('minimal')]).toEqual([`agent-messaging-service:${version}`]);
    expect([...image('external')]).toEqual([
      expect.stringMatching(/^registry\.example\.com\/agent-messaging-service@sha256:[0-9a-f]{64}$/),
    ]);
    expect(chart.get('minimal').notes).toContain('Set image.digest');
    expect(chart.get('external').notes).not.toContain('Set image.digest');
  });

  test('gives each process settings that it starts with, and secrets by reference only', () => {
    for (const [name, release] of chart.releases)
      for (const workload of workloads(release)) {
        expect(() => configOf(workload), `${name} ${workload.metadata.name}`).not.toThrow();
        const env = environmentOf(workload);
        expect(new Set(env.map((each) => each.name)).size).toBe(env.length);
        const secret = env.filter((each) =>
          /PASSWORD|SECRET|_KEY|(?:DATABASE|REDIS|SMTP)\w*_URL/.test(each.name),
        );
        expect(secret.filter(({ value }) => value !== undefined)).toEqual([]);
        expect(secret.length).toBeGreaterThan(1);
      }
    expect([...chart.releases.values()].flatMap((release) => ofKind(release, 'Secret'))).toEqual([]);
    const [api] = workloads(chart.get('external'));
    expect(api && configOf(api)).toMatchObject({
      AGENTS_PER_OWNER: 1_000_000,
      TRUST_PROXY: true,
      ECHO_AGENT: false,
    });
  });

  test('has probes of addresses that the process serves, and more time for a stop than its phases take', () => {
    for (const [name, release] of chart.releases)
      for (const workload of ofKind(release, 'Deployment')) {
        const config = configOf(workload);
        const isApi = workload.metadata.name === 'ams-api';
        const { ports, startupProbe, livenessProbe, readinessProbe, lifecycle } = containerOf(workload);
        expect(ports).toEqual([
          ...(isApi ? [{ name: 'http', containerPort: config.PORT }] : []),
          { name: 'ops', containerPort: config.OPS_PORT },
        ]);
        const port = isApi ? 'http' : 'ops';
        expect([startupProbe.httpGet, livenessProbe.httpGet]).toEqual(
          [0, 1].map(() => ({ path: '/livez', port })),
        );
        expect(readinessProbe.httpGet).toEqual({ path: '/readyz', port });
        // The process itself continues to serve after SIGTERM, so no preStop command has to wait.
        expect(lifecycle).toBeUndefined();
        const noticed = readinessProbe.periodSeconds * readinessProbe.failureThreshold;
        if (isApi) expect(config.DRAIN_SECONDS, name).toBeGreaterThanOrEqual(noticed);
        const phases = isApi ? stopSeconds.api + config.DRAIN_SECONDS : stopSeconds.worker;
        expect(workload.spec.template.spec.terminationGracePeriodSeconds, name).toBeGreaterThan(phases);
        expect(workload.spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
      }
  });

  test('migrates before the processes are replaced, and needs nothing that the release creates later', () => {
    const [job] = ofKind(chart.get('external'), 'Job');
    expect(job?.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-install,pre-upgrade' });
    expect(job && containerOf(job).command).toEqual(['node', 'dist/src/cli/main.js', 'migrate']);
    const pod = job?.spec.template.spec;
    expect([pod.serviceAccountName, pod.restartPolicy]).toEqual([undefined, 'Never']);
    expect(pod.volumes).toEqual([{ name: 'tmp', emptyDir: {} }]);
    expect(ofKind(chart.get('roles'), 'Job')).toEqual([]);
  });

  test('keeps attachments in S3 or on one volume', () => {
    const volumeOf = (name: string) =>
      new Set(
        ofKind(chart.get(name), 'Deployment').map(({ spec }) =>
          JSON.stringify(spec.template.spec.volumes[1]),
        ),
      );
    const claim = (claimName: string) => [
      JSON.stringify({ name: 'data', persistentVolumeClaim: { claimName } }),
    ];
    expect([...volumeOf('minimal')]).toEqual(claim('ams-data'));
    expect([...volumeOf('hpa')]).toEqual(claim('attachments'));
    expect([...volumeOf('external')]).toEqual([JSON.stringify({ emptyDir: {}, name: 'data' })]);
    const claims = valueFiles.flatMap((name) =>
      ofKind(chart.get(name), 'PersistentVolumeClaim').map(() => name),
    );
    expect(claims.toSorted()).toEqual(['ingress', 'minimal']);
  });
});
