import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createClient } from '../../../packages/client/src/node/main.ts';
import type { ServiceProcess } from '../../../scripts/parts/service-process.ts';
import { startTcpBalancer } from '../../../scripts/parts/tcp-balancer.ts';
import { readFeed, type ReaderTransport, startRestartingReader } from '../../clients/restarting-reader.ts';
import { startTestCluster } from '../../support/cluster/cluster.ts';
import { buildAgent } from '../../support/service.ts';

vi.setConfig({ testTimeout: 1_800_000 });

const cuts = 1_000;
const events = 20_000;
const senders = 8;
const readers: ReaderTransport[] = ['websocket', 'poll', 'switching'];

/** Every so many cuts, a process is killed instead of the connections. */
const apiKillInterval = 50;
const redisKillInterval = 125;

test('1,000 cuts of sockets, API processes and Redis lose and duplicate none of 20,000 events', async () => {
  const cluster = await startTestCluster('redis');
  let apis: ServiceProcess[] = await Promise.all([cluster.startApi(), cluster.startApi()]);
  const listTargets = () => apis.map(({ url }) => ({ host: '127.0.0.1', port: Number(new URL(url).port) }));
  const [forReaders, forSenders] = await Promise.all([
    startTcpBalancer(listTargets),
    startTcpBalancer(listTargets),
  ]);
  onTestFinished(async () => {
    await Promise.all([forReaders.close(), forSenders.close()]);
  });
  const [ada, bob] = await Promise.all([buildAgent(cluster.core), buildAgent(cluster.core)]);
  const url = `http://127.0.0.1:${forSenders.port}`;
  const asAda = createClient({ url, auth: ada.token, maxRetries: 30, timeoutMs: 120_000 });

  async function send(count: number): Promise<void> {
    const { id: thread_id } = await asAda.threads.create({ with_handle: bob.handle });
    for (let number = 1; number < count; number += 1) {
      await asAda.messages.send({ thread_id, content: String(number) });
    }
  }

  async function cut(number: number): Promise<void> {
    if (number % redisKillInterval === 0) {
      await cluster.redis.kill9();
      await cluster.redis.restart();
    } else if (number % apiKillInterval === 0) {
      const [first, second] = apis;
      if (!first || !second) throw new Error('there are two API processes');
      await first.kill9();
      apis = [second];
      apis = [second, await cluster.startApi()];
    } else {
      forReaders.dropConnections(() => Math.random() < 0.7);
    }
  }

  const reading = readers.map((transport) =>
    startRestartingReader({
      url: `http://127.0.0.1:${forReaders.port}`,
      token: bob.token,
      transport,
      failureRate: 0.002,
    }),
  );
  const startedAt = Date.now();
  const sent = Promise.all(Array.from({ length: senders }, () => send(events / senders)));
  for (let number = 1; number <= cuts; number += 1) {
    // Spread over the events, whichever reader is ahead.
    const count = (number * events * 0.9) / cuts;
    await Promise.race([...reading.map((reader) => reader.waitFor(count)), sent]);
    await cut(number);
    await pause(Math.random() * 5);
  }
  await sent;
  const feed = await readFeed(`${url}/v1`, bob.token);
  expect(feed.length).toBeGreaterThanOrEqual(events);
  for (const [index, reader] of reading.entries()) {
    await reader.waitFor(feed.length);
    const report = await reader.stop();
    process.stdout.write(
      `${readers[index]}: ${feed.length} events, ${report.restarts} restarts, ${JSON.stringify(report.connections)}\n`,
    );
    expect([...new Set(report.handled)]).toEqual(feed);
    expect(report.doubled).toEqual([]);
  }
  process.stdout.write(`${cuts} cuts in ${Math.round((Date.now() - startedAt) / 1_000)} s\n`);
});
