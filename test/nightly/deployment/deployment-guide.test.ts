import { randomBytes } from 'node:crypto';
import { parseEnv } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runChaos } from '../../../chaos/run.ts';
import { findFreePort } from '../../support/free-port.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';
import { startTestRedis } from '../../support/servers/redis/server.ts';
import { missingS3Reason, createTestBucket } from '../../support/servers/s3.ts';
import { scrapeMetrics } from '../../integration/ops/scrape.ts';
import { listDocumentedMetrics } from '../../integration/ops/documented-metrics.ts';
import { missingHaproxyReason } from '../../support/servers/haproxy.ts';
import { readCommandBlocks, openShell } from './shell.ts';
import { createFolder, stopAfterTest } from '../../support/use.ts';

/** Metrics that stay unchanged without faults, webhooks, uploads, inboxes, notifications and slow readers. */
const quietSettings = new Set([
  'ams_build_info',
  'ams_part_up',
  'ams_webhook_attempts_total',
  'ams_attachment_scans_total',
  'ams_inbox_ready',
  'ams_inbox_leased',
  'ams_inbox_dead',
  'ams_inbox_oldest_age_seconds',
  'ams_notifications_total',
  'ams_slow_readers_closed_total',
  'ams_database_pool_waiting',
  'ams_queue_jobs',
  'ams_queue_oldest_job_age_seconds',
  'ams_outbox_jobs',
  'ams_outbox_oldest_job_age_seconds',
]);
/** Metrics of the replica and of agents of other systems, which this deployment does not have. */
const ofAbsentParts = /^ams_(?:replica|remote)_/;

async function readStorePath(folder: string): Promise<Record<string, string>> {
  if (missingS3Reason !== undefined) return { DATA_DIR: folder };
  const bucket = stopAfterTest(await createTestBucket());
  return { DATA_DIR: folder, ...bucket.env };
}

/** All values of each metric family from all processes; empty for a family without samples. */
async function valuesAt(ports: readonly number[]): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  for (const port of ports) {
    const { families, samples } = await scrapeMetrics(`http://127.0.0.1:${port}`);
    for (const family of families) values.set(family, values.get(family) ?? '');
    for (const { name, labels, value } of samples) {
      const family = name.replace(/_(?:bucket|count|sum)$/, '');
      values.set(family, `${values.get(family) ?? ''} ${JSON.stringify(labels)}=${value}`);
    }
  }
  return values;
}

describeUnless(missingHaproxyReason, 'a new operator who follows docs/deployment.md', () => {
  test('starts two of each, shows traffic on the dashboard, kills one of each and loses nothing', async () => {
    const folder = await createFolder();
    const [database, redis] = [await createTestDatabase(), await startTestRedis()];
    onTestFinished(async () => {
      await redis.stop();
      await database.drop();
    });
    const [settings = '', start = '', balancer = '', look = '', kill = ''] = readCommandBlocks(
      'Two of each, on one machine',
    );

    // The documented ports may be in use here, and logs do not belong in the checkout.
    const ports = new Map<string, number>();
    for (const port of ['3001', '3002', '8080', '8404', '9461', '9462', '9463', '9464']) {
      ports.set(port, await findFreePort());
    }
    const here = (block: string) =>
      block
        .replaceAll(/\b(?:300[12]|8080|8404|946[1-4])\b/g, (port) => String(ports.get(port) ?? port))
        .replaceAll(/\b(api|worker|balancer)(-\d)?\.log\b/g, `${folder}/$&`);
    const base = `http://localhost:${ports.get('8080')}`;
    const env: Record<string, string> = {
      ...(parseEnv(here(settings)) as Record<string, string>),
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      SECRET_KEY: randomBytes(32).toString('base64'),
      S3_ENDPOINT: '',
      S3_BUCKET: '',
      S3_ACCESS_KEY_ID: '',
      S3_SECRET_ACCESS_KEY: '',
      ...(await readStorePath(folder)),
      RATE_LIMITS: 'off',
      // The doctor fetches such a document, and this machine may have no way to its address.
      CLIENT_ID_METADATA_DOCUMENTS: 'false',
    };
    expect(env['PUBLIC_URL']).toBe(base);
    const shell = stopAfterTest(openShell(env));
    await shell.type(here(start));
    expect(await shell.type(here(balancer))).toMatch(/^ok +api /m);
    const ops = ['9461', '9462', '9463', '9464'].map((port) => ports.get(port) ?? 0);
    const ready = async () => {
      for (const port of ops) expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
    };
    await vi.waitFor(ready, { timeout: 60_000, interval: 200 });
    const before = await valuesAt(ops);
    // Both are used: the balancer sends more calls to the one with fewer sockets.
    async function sent(): Promise<number> {
      const scrapes = await Promise.all(
        ops.slice(0, 2).map((port) => scrapeMetrics(`http://127.0.0.1:${port}`)),
      );
      const labels = { operation: 'send_message', transport: 'rest', outcome: 'ok' };
      return scrapes.reduce((sum, { value }) => sum + (value('ams_operations_total', labels) ?? 0), 0);
    }
    const sends = (count: number) => expect.poll(sent).toBeGreaterThan(count);

    const { violations } = await runChaos(
      { base, env, postgres: database },
      {
        async injectFaults() {
          await sends(10);
          const begun_at = Date.now();
          await shell.type(here(kill));
          await vi.waitFor(ready, { timeout: 60_000, interval: 200 });
          await sends((await sent()) + 10);
          return [{ kind: 'one of each killed', begun_at, ended_at: Date.now() }];
        },
        seed: 86,
        size: { agents: 5, threads: 4 },
        signal: new AbortController().signal,
        log: () => undefined,
        complaints: [],
      },
    );
    expect(violations).toEqual([]);
    expect(await shell.type(here(look))).toMatch(/ams_job_duration_seconds_count\{.*deliver-events/);

    const after = await valuesAt(ops);
    const shown = [...listDocumentedMetrics().usedOnDashboard];
    expect(shown.filter((name) => !after.has(name))).toEqual([]);
    const unmoved = shown.filter((name) => after.get(name) === before.get(name));
    expect(unmoved.filter((name) => !quietSettings.has(name) && !ofAbsentParts.test(name))).toEqual([]);
  });
});
