import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startTestCluster } from '../../support/cluster/cluster.ts';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { startWatchedLoad } from './watched-load.ts';
import { createFolder } from '../../support/use.ts';

/** The environment of a Node process for which this name is 127.0.0.1, and does not resolve while the file exists. */
function nameService(name: string, outage: string): { NODE_OPTIONS: string } {
  const program = `
    import dns from 'node:dns';
    import { existsSync } from 'node:fs';
    const { lookup } = dns;
    dns.lookup = (name, options, callback) => {
      if (name !== ${JSON.stringify(name)}) lookup(name, options, callback);
      else if (!existsSync(${JSON.stringify(outage)})) lookup('127.0.0.1', options, callback);
      else setImmediate(callback, Object.assign(new Error('getaddrinfo EAI_AGAIN ' + name), { code: 'EAI_AGAIN' }));
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
}

/** A conversation on a service that finds one of its parts by a name, through a proxy. */
async function start(setting: 'REDIS_URL' | 'DATABASE_URL', name: string) {
  const cluster = await startTestCluster('redis');
  const folder = await createFolder();
  const outage = join(folder, 'outage');
  const proxy = await startTcpProxy(cluster.env[setting] ?? '');
  onTestFinished(() => proxy.close());
  const env = {
    ...nameService(name, outage),
    [setting]: proxy.url.replace('127.0.0.1', name),
  };
  const [api] = await Promise.all([cluster.startApi(env), cluster.startWorker(env)]);
  const { load, health, expectEverything } = await startWatchedLoad(cluster, api);
  await expect.poll(health).toMatchObject({ status: 'ok' });
  return {
    api,
    load,
    health,
    async breakName() {
      await writeFile(outage, '');
      // Open connections do not need the name.
      await load.waitForMore(50);
      load.expectNoErrors();
      proxy.dropConnections(() => true);
    },
    mendName: () => rm(outage),
    expectEverything,
  };
}

await describeWithRedis('a name that does not resolve for a while', () => {
  test('of Redis: no call is refused', async () => {
    const { api, load, health, breakName, mendName, expectEverything } = await start(
      'REDIS_URL',
      'redis.test',
    );
    await breakName();
    await expect.poll(health).toMatchObject({ status: 'degraded' });
    await load.waitForMore(100);
    expect(api.log()).toMatch(/"level":40.*Redis connection failed/);
    await mendName();
    await expect.poll(health).toMatchObject({ status: 'ok' });
    load.expectNoErrors();
    await expectEverything();
  });

  test('of PostgreSQL: calls are 503 with Retry-After', async () => {
    const { api, load, health, breakName, mendName, expectEverything } = await start(
      'DATABASE_URL',
      'db.test',
    );
    await breakName();
    await expect.poll(health).toMatchObject({ status: 'unavailable', parts: { database: 'failed' } });
    await load.waitUntil(() => load.errors.length >= 20);
    await expect.poll(() => api.log()).toMatch(/"level":50.*EAI_AGAIN db\.test/);
    await mendName();
    await expect.poll(health).toMatchObject({ status: 'ok' });
    await expectEverything();
    for (const { status, headers } of load.errors)
      expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  });
});
