import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startProcess } from '../../scripts/parts/service-process.ts';
import { describeWithRedis } from '../support/servers/redis/server.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { startTestCluster } from '../support/cluster/cluster.ts';
import { parseMetrics } from '../integration/ops/scrape.ts';
import { createFolder } from '../support/use.ts';

/** Shorter than any PostgreSQL timeout of the service, and long enough for a slow machine. */
const measureBound = () => ({ signal: AbortSignal.timeout(15_000) });

/** An unresponsive part: the check timed out, or the part was already given up. */
const unresponsiveServer = expect.stringMatching(/^(?:slow|failed)$/);

await describeWithRedis('operators of a process get their answers', () => {
  test('while Redis, or PostgreSQL, accepts data and does not respond', async () => {
    const cluster = await startTestCluster('redis');
    const redis = await startTcpProxy(cluster.redis.url);
    const database = await startTcpProxy(cluster.env['DATABASE_URL'] ?? '');
    onTestFinished(async () => void (await Promise.all([redis.close(), database.close()])));
    const folder = await createFolder();
    const logFile = join(folder, 'api.log');
    const env = { ...cluster.env, REDIS_URL: redis.url, DATABASE_URL: database.url };
    const api = await startProcess('api', env, { logFile });
    onTestFinished(() => api.kill9());

    /** The parts that scrapes could not read, from the log so far. */
    const listMissedParts = async () => {
      const log = await readFile(logFile, 'utf8');
      return Array.from(log.matchAll(/a scrape could not look at ([\w ]+?)(?: \(|")/g), ([, part]) => part);
    };

    const health = async () => {
      const answer = await fetch(`${api.url}/readyz`, measureBound());
      return [answer.status, await answer.json()];
    };
    const up = async () => {
      const answer = await fetch(`${api.url}/metrics`, measureBound());
      const { value } = parseMetrics(await answer.text());
      const parts = ['database', 'queues'].map((part) => value('ams_part_up', { part }));
      const depth = value('ams_queue_jobs', { queue: 'delivery', state: 'waiting' });
      return { parts, depth, owed: value('ams_outbox_jobs') };
    };
    const allWell = { parts: [1, 1], depth: 0, owed: 0 };
    await expect.poll(up).toEqual(allWell);

    redis.freeze();
    // Results are cached for a moment, so poll until they change.
    await expect.poll(up).toEqual({ parts: [1, 0], depth: undefined, owed: 0 });
    const parts = { database: 'ok', queues: unresponsiveServer };
    await expect.poll(health).toMatchObject([200, { status: 'degraded', parts }]);
    await expect.poll(listMissedParts).toEqual(expect.arrayContaining(['queues', 'the depth of the queues']));
    await redis.disconnect();
    await redis.restore();
    await expect.poll(up).toEqual(allWell);

    database.freeze();
    await expect.poll(up).toEqual({ parts: [0, 1], depth: 0, owed: undefined });
    const away = { database: unresponsiveServer, queues: 'ok' };
    await expect.poll(health).toMatchObject([503, { status: 'unavailable', parts: away }]);
    await expect.poll(listMissedParts).toEqual(expect.arrayContaining(['database', 'the outbox']));
    await database.disconnect();
    await database.restore();
    await expect.poll(up).toEqual(allWell);
  });
});
