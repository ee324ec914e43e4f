import { describe, expect, test } from 'vitest';
import { runCli, runCliJson } from '../../clients/cli.ts';
import { callToolRaw, connectSdkClient } from '../../clients/mcp/client.ts';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { type Backend, startService, type TestAgent } from '../../support/service.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { scrapeMetrics } from './scrape.ts';
import { listDocumentedMetrics } from './documented-metrics.ts';
import { use } from '../../support/use.ts';

const password = 'a-long-enough-password';
const basic = (text: string) => ({ Authorization: `Basic ${Buffer.from(text).toString('base64')}` });

function metricsOn(backend: Backend): void {
  const service = use(() => startService({ backend, env: { OPS_PORT: '0', OPERATOR_PASSWORD: password } }));

  async function conversation(): Promise<[ann: TestAgent, thread: string]> {
    const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
    const bobMcp = await service.token(bob.handle, { audience: 'mcp' });
    const socket = await connectWebSocket(service.url, { token: bob.token });
    const mcp = await connectSdkClient(service.url, bobMcp);
    const thread = await service.post(ann, '/threads', { with_handle: bob.handle, initial_message: 'one' });
    await callToolRaw(service.url, bobMcp, 'send_message', { thread_id: thread.body.id, content: 'two' });
    await socket.next((frame) => (frame.data as { content?: string }).content === 'two');
    await expect.poll(() => mcp.notifications.length).toBe(3);
    const open = await scrapeMetrics(service.ops.api);
    expect(open.value('ams_open_streams', { transport: 'ws' })).toBe(1);
    expect(open.value('ams_open_streams', { transport: 'mcp' })).toBe(1);
    await Promise.all([socket.close(), mcp.close()]);
    return [ann, String(thread.body.id)];
  }

  test('a conversation is visible in the metrics of API and worker', async () => {
    const [ann, thread] = await conversation();
    expect((await service.get(ann, '/threads/thd_nothing')).status).toBe(404);
    await service.get(ann, `/threads/${thread}`);
    await fetch(`${service.url}/wp-login.php?secret=1`);

    const indexed = async () =>
      (await scrapeMetrics(service.ops.worker)).value('ams_search_index_lag_seconds_count');
    await expect.poll(indexed).toBe(2);
    const done = { job: 'deliver-events', outcome: 'done' };
    const readWakeups = async () =>
      (await scrapeMetrics(service.ops.worker)).value('ams_job_duration_seconds_count', done);
    await expect.poll(readWakeups).toBeGreaterThan(0);
    await expect
      .poll(async () => (await scrapeMetrics(service.ops.api)).value('ams_websocket_closes_total'))
      .toBe(1);
    const [api, worker] = await Promise.all([
      scrapeMetrics(service.ops.api),
      scrapeMetrics(service.ops.worker),
    ]);

    const route = { method: 'GET', route: '/v1/threads/:thread_id' };
    expect(api.value('http_request_duration_seconds_count', { ...route, status: '2xx' })).toBe(1);
    expect(api.value('http_request_duration_seconds_count', { ...route, status: '4xx' })).toBe(1);
    expect(api.value('http_request_duration_seconds_count', { route: 'none' })).toBe(1);
    const sent = { operation: 'create_thread', transport: 'rest', outcome: 'ok' };
    expect(api.value('ams_operations_total', sent)).toBe(1);
    expect(api.value('ams_operations_total', { operation: 'send_message', transport: 'mcp' })).toBe(1);
    const refused = { operation: 'get_thread', outcome: 'refused' };
    expect(api.value('ams_operations_total', refused)).toBe(1);
    for (const transport of ['ws', 'mcp']) {
      expect(api.value('ams_delivery_latency_seconds_count', { transport })).toBe(3);
      expect(api.value('ams_delivery_latency_seconds_bucket', { transport, le: '+Inf' })).toBe(3);
      expect(api.value('ams_feed_lag_seconds_count', { transport })).toBeGreaterThan(0);
    }
    expect(api.value('ams_websocket_closes_total', { code: '1005' })).toBe(1);

    for (const process of [api, worker]) {
      for (const part of ['database', 'queues', 'bus'])
        expect(process.value('ams_part_up', { part })).toBe(1);
      for (const state of ['waiting', 'active', 'delayed', 'failed']) {
        expect(process.value('ams_queue_jobs', { queue: 'delivery', state })).toBeGreaterThanOrEqual(0);
      }
      expect(process.value('ams_queue_oldest_job_age_seconds', { queue: 'webhooks' })).toBe(0);
      expect(process.value('ams_outbox_jobs')).toBeGreaterThanOrEqual(0);
      expect(process.value('ams_database_pool_connections', { state: 'idle' })).toBeGreaterThan(0);
      expect(process.value('ams_build_info')).toBe(1);
      expect(process.value('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);
      expect(process.value('process_resident_memory_bytes')).toBeGreaterThan(0);
    }
    // A scrape contains no caller, no address and no text from a caller.
    const words = JSON.stringify([api.samples, worker.samples]);
    for (const secret of [thread, ann.id, ann.handle, 'wp-login', 'thd_'])
      expect(words).not.toContain(secret);
  });

  test('dashboard and alerts query existing metrics, and every metric is on the dashboard or in the documentation', async () => {
    const [api, worker] = await Promise.all([
      scrapeMetrics(service.ops.api),
      scrapeMetrics(service.ops.worker),
    ]);
    const exported = new Set([...api.families, ...worker.families]);
    const { alerts, usedInRules, usedOnDashboard, usedInDocs, explained } = listDocumentedMetrics();
    expect([...usedInRules, ...usedOnDashboard].filter((name) => !exported.has(name))).toEqual([]);
    const own = [...exported].filter((name) => /^(?:ams|http)_/.test(name));
    expect(own.length).toBeGreaterThan(15);
    expect(own.filter((name) => !usedOnDashboard.has(name))).toEqual([]);
    expect(own.filter((name) => !usedInDocs.has(name))).toEqual([]);
    expect(explained).toEqual(expect.arrayContaining(alerts));
  });

  test('a failed job is visible in metrics, doctor and command line, and can be retried', async () => {
    const { core } = service;
    const job = {
      queue: 'attachment-scanning',
      name: 'of-a-newer-release',
      id: 'job-one',
      payload: { version: 9 },
    } as const;
    const env = core.config.REDIS_URL === undefined ? {} : { REDIS_URL: core.config.REDIS_URL };
    const { DATABASE_URL, SECRET_KEY } = core.config;
    const settings = { ...env, DATABASE_URL, SECRET_KEY };
    await core.queues.enqueue([{ ...job, attempts: 1, backoff_ms: 1 }]);
    const failures = () => runCliJson(settings, ['queue', 'failed', 'attachment-scanning']);
    const error = 'the job of-a-newer-release has no handler; it may come from a newer release';
    const shown = {
      jobs: [expect.objectContaining({ id: 'job-one', payload: job.payload, attempts: 1, error })],
    };
    await expect.poll(failures).toEqual(shown);

    const failed = { queue: 'attachment-scanning', state: 'failed' };
    await expect
      .poll(async () => (await scrapeMetrics(service.ops.api)).value('ams_queue_jobs', failed))
      .toBe(1);
    const depth = await runCliJson(settings, ['queue', 'depth']);
    expect(depth).toMatchObject({
      queues: expect.arrayContaining([expect.objectContaining({ queue: 'attachment-scanning', failed: 1 })]),
      outbox: { owed: expect.any(Number) },
    });
    expect((await runCli(settings, ['doctor'])).out).toContain(
      '1 failed in attachment-scanning (ams queue failed attachment-scanning)',
    );

    expect(await runCliJson(settings, ['queue', 'retry', 'attachment-scanning', 'job-one'])).toEqual({
      queue: 'attachment-scanning',
      retried: 1,
    });
    await expect.poll(failures).toEqual(shown);
    expect(await runCliJson(settings, ['queue', 'retry', 'attachment-scanning', '--all'])).toMatchObject({
      retried: 1,
    });
    const nothing = await runCli(settings, ['queue', 'retry', 'attachment-scanning', 'job-two']);
    expect(nothing).toMatchObject({
      code: 1,
      err: 'error: the queue attachment-scanning has no failed job job-two\n',
    });
    expect(await runCli(settings, ['queue', 'retry', 'attachment-scanning'])).toMatchObject({ code: 1 });
    expect(await runCli(settings, ['queue', 'failed', 'nonsense'])).toMatchObject({ code: 2 });
  });

  test('operators have a separate address, with the health of the process', async () => {
    for (const ops of [service.ops.api, service.ops.worker]) {
      const health = await fetch(`${ops}/readyz`);
      expect([health.status, await health.json()]).toMatchObject([200, { status: 'ok' }]);
    }
    expect((await fetch(`${service.url}/metrics`)).status).toBe(404);
    expect(
      (await fetch(`${service.url}/ops/queues`, { headers: basic(`operator:${password}`) })).status,
    ).toBe(404);
  });

  test('the queue dashboard is for the operator, and read-only', async () => {
    const board = `${service.ops.worker}/ops/queues`;
    const response = await fetch(board);
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/^Basic /),
    ]);
    const right = basic(`operator:${password}`);
    const page = await fetch(board, { headers: right });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('id="root"')]);
    const script = /src="(static\/js\/main[^"]+)"/.exec(
      await (await fetch(board, { headers: right })).text(),
    )?.[1];
    expect((await fetch(`${board}/${script}`, { headers: right })).status).toBe(200);
    expect((await fetch(`${board}/${script}`)).status).toBe(401);
    const queues = await fetch(`${board}/api/queues`, { headers: right });
    expect(await queues.json()).toMatchObject({
      queues: expect.arrayContaining([expect.objectContaining({ name: 'delivery', readOnlyMode: true })]),
    });
    for (const path of ['api/queues/delivery/pause', 'api/queues/delivery/retry/failed'])
      expect((await fetch(`${board}/${path}`, { method: 'PUT', headers: right })).status).toBe(405);

    for (const wrong of ['operator:', `root:${password}`, `operator:${password}x`])
      expect((await fetch(board, { headers: basic(wrong) })).status).toBe(401);
    const guess = async () => (await fetch(board, { headers: basic('operator:guess') })).status;
    for (let count = 0; count < 7; count += 1) expect(await guess()).toBe(401);
    expect(await guess()).toBe(429);
    expect((await fetch(board, { headers: right })).status).toBe(429);
    expect((await fetch(`${service.ops.api}/ops/queues`, { headers: right })).status).toBe(200);
  });
}

describe('observability, with queues and bus on PostgreSQL', () => metricsOn('postgres'));
await describeWithRedis('observability, with queues and bus on Redis', () => metricsOn('redis'));
