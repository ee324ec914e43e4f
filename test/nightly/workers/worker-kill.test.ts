import { expect, test } from 'vitest';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import type { Backend } from '../../support/service.ts';
import { expectExactlyOnce } from '../../support/cluster/delivery-check.ts';
import { startTestCluster, startConversation } from '../../support/cluster/cluster.ts';
import { startMessageLoad } from '../../support/cluster/message-load.ts';

function workerKill(backend: Backend): void {
  test(`a worker killed with running jobs (${backend}): another one runs them`, async () => {
    const cluster = await startTestCluster(backend);
    const [api, doomed] = await Promise.all([cluster.startApi(), cluster.startWorker()]);
    const talk = await startConversation(cluster.core, api.url);
    const load = startMessageLoad(talk, () => [api.url]);
    await load.waitForMore(100);
    doomed.freeze();
    await load.waitForMore(100);
    await doomed.kill9();
    await load.waitForMore(100);
    expect((await cluster.core.db.outbox.readAge()).rows).toBeGreaterThan(0);
    await cluster.startWorker();
    await load.waitForMore(50);
    await load.finish();
    load.expectNoErrors();
    await expectExactlyOnce({ core: cluster.core, url: api.url }, talk, load.acknowledged);
  });
}

workerKill('postgres');
await describeWithRedis('with Redis', () => workerKill('redis'));
