import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runCli } from '../clients/cli.ts';
import { expectExactlyOnce } from '../support/cluster/delivery-check.ts';
import { startTestCluster, startConversation } from '../support/cluster/cluster.ts';
import { followMessages } from '../clients/message-follower.ts';
import { startMessageLoad } from '../support/cluster/message-load.ts';
import { startTestRedisCluster } from '../support/servers/redis/cluster.ts';
import { startTestSentinels } from '../support/servers/redis/sentinel.ts';
import { describeWithRedis, startTestRedis } from '../support/servers/redis/server.ts';
import { testCertificate } from '../support/servers/tls-certificate.ts';
import { createFolder } from '../support/use.ts';

/** A Redis with TLS: its address, and the address without TLS. */
const kinds = {
  async server() {
    const redis = await startTestRedis({ tls: true });
    return { ...redis, tls_url: `rediss://127.0.0.1:${redis.tls_port}` };
  },
  cluster: () => startTestRedisCluster({ tls: true }),
  async 'group of sentinels'() {
    const redis = await startTestSentinels({ tls: true });
    // This process does not trust the certificate, so its own checks connect to the master without TLS.
    const { port } = await redis.master();
    return { ...redis, url: `redis://:${encodeURIComponent('of the servers')}@127.0.0.1:${port}` };
  },
};

await describeWithRedis('TLS to Redis', () => {
  test.each(Object.entries(kinds))('with certificates of a configured authority: a %s', async (_, start) => {
    const redis = await start();
    onTestFinished(() => redis.stop());
    const folder = await createFolder();
    const NODE_EXTRA_CA_CERTS = join(folder, 'authority.pem');
    await writeFile(NODE_EXTRA_CA_CERTS, testCertificate.cert);
    const cluster = await startTestCluster('redis', { REDIS_URL: redis.url });
    const REDIS_URL = String(redis.tls_url);

    const secured = { REDIS_URL, NODE_EXTRA_CA_CERTS };
    const [one, other] = await Promise.all([
      cluster.startApi(secured),
      cluster.startApi(secured),
      cluster.startWorker(secured),
    ]);
    const talk = await startConversation(cluster.core, one.url);
    const follower = await followMessages(talk.members[1], () => [other.url]);
    const load = startMessageLoad(talk, () => [one.url]);
    await load.waitForMore(30);
    await load.finish();
    load.expectNoErrors();
    await follower.waitUntil(load.acknowledged.length);
    await expectExactlyOnce({ core: cluster.core, url: one.url }, talk, load.acknowledged);
    for (const { url } of [one, other])
      expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ status: 'ok' });

    // This process has no configured authority: it refuses the same server.
    const doctor = await runCli({ ...cluster.env, REDIS_URL, PUBLIC_URL: one.url }, ['doctor']);
    expect(doctor.out).toMatch(/^FAIL +queues/m);
    expect(doctor.out).toMatch(/^not checked +bus +needs queues$/m);
  });
});
