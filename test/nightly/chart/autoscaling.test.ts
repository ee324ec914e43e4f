import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { queuesOfRole } from '../../../src/jobs/define.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { startConversation, startTestCluster } from '../../support/cluster/cluster.ts';
import { startMessageLoad } from '../../support/cluster/message-load.ts';
import { findFreePort } from '../../support/free-port.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { buildRenderer, missingGoReason, ofKind, type Rendered } from './render.ts';

/** A process that Prometheus scrapes, with the labels of its Service and Pod. */
interface Target {
  address: string;
  component: 'api' | 'worker';
  service: string;
}

interface Relabeling {
  sourceLabels: string[];
  regex: string;
  targetLabel: string;
  replacement: string;
}

/** A real Prometheus that scrapes the targets as the ServiceMonitor of the chart says. Returns a function that evaluates a query. */
async function startPrometheus(release: Rendered, folder: string, targets: readonly Target[]) {
  const [monitor] = ofKind(release, 'ServiceMonitor');
  const [endpoint] = monitor?.spec.endpoints ?? [];
  const configuration = {
    global: { scrape_interval: '1s', scrape_timeout: '1s' },
    scrape_configs: [
      {
        job_name: 'pods',
        metrics_path: endpoint.path,
        relabel_configs: endpoint.relabelings.map((rule: Relabeling) => ({
          source_labels: rule.sourceLabels,
          regex: rule.regex,
          target_label: rule.targetLabel,
          replacement: rule.replacement,
        })),
        static_configs: targets.map(({ address, component, service }) => ({
          targets: [address],
          labels: {
            namespace: 'messaging',
            service,
            __meta_kubernetes_pod_label_app_kubernetes_io_component: component,
          },
        })),
      },
    ],
  };
  writeFileSync(join(folder, 'prometheus.yml'), stringify(configuration));
  const address = `127.0.0.1:${await findFreePort()}`;
  const options = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${address}`,
  ];
  const child = spawn('prometheus', options, { stdio: 'ignore' });
  const gone = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await gone;
  });
  /** The value of a query with one sample, which is what KEDA takes; undefined without one. */
  return async function evaluate(query: string): Promise<number | undefined> {
    const response = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(query)}`).catch(
      () => undefined,
    );
    if (response?.status !== 200) return undefined;
    const { data } = (await response.json()) as { data: { result: { value: [number, string] }[] } };
    if (data.result.length > 1) throw new Error(`${data.result.length} samples for ${query}`);
    return data.result.length === 0 ? undefined : Number(data.result[0]?.value[1]);
  };
}

/** The queries of the autoscaler of a Deployment, in their order. */
function queriesOf(release: Rendered, name: string): string[] {
  const scaler = ofKind(release, 'ScaledObject').find(({ metadata }) => metadata.name === name);
  const triggers: { type: string; metadata: { query: string } }[] = scaler?.spec.triggers ?? [];
  return triggers.filter(({ type }) => type === 'prometheus').map(({ metadata }) => metadata.query);
}

describeUnless(missingGoReason, 'the queries of KEDA, evaluated by Prometheus over a loaded service', () => {
  test('give the open connections, and the number and age of the waiting jobs', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ams-autoscaling-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const renderer = buildRenderer(folder);
    const [whole, divided] = [renderer.render('keda'), renderer.render('roles')];

    const cluster = await startTestCluster('redis');
    const ports = [await findFreePort(), await findFreePort(), await findFreePort()];
    const ops = (port?: number) => ({ OPS_PORT: String(port) });
    const apis = [await cluster.startApi(ops(ports[0])), await cluster.startApi(ops(ports[1]))];
    const addresses = apis.map(({ url }) => url);
    const [address = ''] = addresses;
    const started = Date.now();
    // No worker delivers, so those jobs wait.
    await cluster.startWorker({ ...ops(ports[2]), WORKER_ROLES: 'maintenance' });
    const talk = await startConversation(cluster.core, address);
    const sockets = await Promise.all(
      talk.members.map(({ token }, position) =>
        connectWebSocket(addresses[position % addresses.length] ?? '', { token }),
      ),
    );
    onTestFinished(() => sockets.forEach((socket) => socket.disconnect()));
    const load = startMessageLoad(talk, () => addresses);
    await load.waitForMore(60);
    await load.finish();

    const ours = ports.map((port, position) => ({
      address: `127.0.0.1:${port}`,
      component: position < apis.length ? ('api' as const) : ('worker' as const),
      service: 'ams-ops',
    }));
    // Another release in the namespace does not count.
    const others = ours.map((target) => ({ ...target, service: 'other-ops' }));
    const evaluate = await startPrometheus(whole, folder, [...ours, ...others]);
    const result = (query = '') => expect.poll(() => evaluate(query));

    const countJobs = async () => (await cluster.core.db.outbox.readAge()).rows;
    // At most four messages share a commit and its job.
    expect(await countJobs()).toBeGreaterThanOrEqual(15);
    const difference = (query = '', count: () => Promise<number>) =>
      expect.poll(async () => ((await evaluate(query)) ?? -1) - (await count()));
    const [streams] = queriesOf(whole, 'ams-api');
    const [jobs, age] = queriesOf(whole, 'ams-worker-main');
    await result(streams).toBe(sockets.length);
    await difference(jobs, countJobs).toBe(0);
    await result(age).toBeGreaterThan(0);
    expect(await evaluate(age ?? '')).toBeLessThanOrEqual((Date.now() - started) / 1_000);

    async function expectWaiting(name: string, queues: readonly string[]): Promise<void> {
      const [waiting, oldest] = queriesOf(divided, `ams-worker-${name}`);
      const countWaiting = async () =>
        (await cluster.core.queues.depths())
          .filter(({ queue }) => queues.includes(queue))
          .reduce((sum, depth) => sum + depth.waiting + depth.active, 0);
      await expect.poll(countWaiting, { timeout: 60_000, message: name }).toBeGreaterThan(0);
      await difference(waiting, countWaiting).toBe(0);
      await result(oldest).toBeGreaterThan(0);
    }
    await expectWaiting('delivery', queuesOfRole.delivery);
    // The delivery of messages enqueues their indexing.
    await cluster.startWorker({ WORKER_ROLES: 'delivery' });
    await expectWaiting('search', queuesOfRole['search-indexing']);
    // As the alerts and the dashboard name the jobs.
    await result('sum(up{job="ams-api",service="ams-ops"})').toBe(apis.length);
    await result('sum(up{job="ams-worker",service="ams-ops"})').toBe(1);

    // With workers for all roles the jobs are done, and the number falls.
    await cluster.startWorker();
    await result(jobs).toBe(0);
  });
});
