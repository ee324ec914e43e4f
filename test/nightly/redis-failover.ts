import { expect, vi } from 'vitest';
import type { Core } from '../../src/compose.ts';
import { runCli, runCliJson } from '../clients/cli.ts';
import { scrapeMetrics } from '../integration/ops/scrape.ts';
import { expectExactlyOnce } from '../support/cluster/delivery-check.ts';
import { startTestCluster, startConversation } from '../support/cluster/cluster.ts';
import { followMessages } from '../clients/message-follower.ts';
import { startMessageLoad } from '../support/cluster/message-load.ts';
import type { TestRedis } from '../support/servers/redis/server.ts';

const waitOptions = { timeout: 60_000, interval: 100 };
const password = 'a-long-enough-password';

/** Two API processes and two workers on this Redis. Limits are counted, and never reached. */
export async function startServiceOn(redis_url: string) {
  const cluster = await startTestCluster('redis', {
    REDIS_URL: redis_url,
    RATE_LIMITS: 'send_message=100000/60,default=100000/60,loop=100000/600',
    OPERATOR_PASSWORD: password,
  });
  const [one, other] = await Promise.all([
    cluster.startApi(),
    cluster.startApi(),
    cluster.startWorker(),
    cluster.startWorker(),
  ]);
  return { cluster, one, other };
}

export type RedisService = Awaited<ReturnType<typeof startServiceOn>>;

/**
 * Sends continuously, kills the master in the middle, and checks that every send was acknowledged, both sockets stayed open and
 * received everything in order, the queues are empty, and all health checks pass.
 */
export async function expectToSurviveFailover(
  { cluster, one, other }: RedisService,
  findMaster: () => Promise<TestRedis>,
) {
  const talk = await startConversation(cluster.core, one.url);
  const addresses = () => [one.url, other.url];
  const followers = await Promise.all([
    followMessages(talk.members[1], () => [one.url]),
    followMessages(talk.members[2], () => [other.url]),
  ]);
  const load = startMessageLoad(talk, addresses);
  await load.waitForMore(100);
  const master = await findMaster();
  await master.kill9();
  // Live delivery continues while there is no master, and after the failover.
  const killed = load.acknowledged.length;
  await load.waitForMore(200);
  await Promise.all(followers.map((follower) => follower.waitUntil(killed + 200)));
  await expect.poll(() => readHealth(one.url)).toEqual('ok');
  await expect.poll(() => readHealth(other.url)).toEqual('ok');
  await load.waitForMore(100);
  await load.finish();
  load.expectNoErrors();
  const sent = load.acknowledged.toSorted((a, b) => a.sequence - b.sequence).map(({ id }) => id);
  for (const follower of followers) {
    await follower.waitUntil(sent.length);
    expect(follower.messages()).toEqual(sent);
    expect([follower.repeated(), follower.connections()]).toEqual([0, 1]);
  }
  await expectExactlyOnce({ core: cluster.core, url: one.url }, talk, load.acknowledged);
  await vi.waitFor(async () => expect(await countUnfinishedJobs(cluster.core)).toEqual([]), waitOptions);
  await expectMetrics(cluster.env, one.url);
}

async function readHealth(url: string): Promise<unknown> {
  return ((await (await fetch(`${url}/readyz`)).json()) as { status: unknown }).status;
}

async function countUnfinishedJobs({ queues }: Core) {
  const depths = await queues.depths();
  return depths.filter(({ waiting, active, failed }) => waiting + active + failed > 0);
}

/** Checks that the operator commands and metrics work with this Redis. */
async function expectMetrics(env: Record<string, string>, url: string): Promise<void> {
  const { value } = await scrapeMetrics(url);
  for (const part of ['database', 'queues', 'bus']) expect(value('ams_part_up', { part })).toBe(1);
  expect(value('ams_queue_jobs', { queue: 'delivery', state: 'waiting' })).toBe(0);
  const { PUBLIC_URL: _, ...settings } = env;
  const doctor = await runCli({ ...settings, PUBLIC_URL: url }, ['doctor']);
  expect(doctor.out).toMatch(/^ok +queues/m);
  expect(doctor.out).toMatch(/^ok +bus/m);
  expect(doctor.out).toMatch(/^ok +backlog/m);
  expect(await runCliJson(env, ['queue', 'depth'])).toMatchObject({
    queues: expect.arrayContaining([expect.objectContaining({ queue: 'delivery', failed: 0 })]),
  });
  const Authorization = `Basic ${Buffer.from(`operator:${password}`).toString('base64')}`;
  const board = await fetch(`${url}/ops/queues/api/queues`, { headers: { Authorization } });
  expect(await board.json()).toMatchObject({
    queues: expect.arrayContaining([expect.objectContaining({ name: 'delivery', readOnlyMode: true })]),
  });
}
