import { expect, onTestFinished, test, vi } from 'vitest';
import { describeWithRedis } from '../../support/redis-server.ts';
import type { Backend } from '../../support/service.ts';
import { expectExact } from './checker.ts';
import { startCluster, startConversation } from './cluster.ts';
import { startLoad } from './load.ts';

vi.setConfig({ testTimeout: 120_000 });

function workerKill(backend: Backend): void {
  test(`a worker killed with jobs in its hands (${backend}): another one does them`, async () => {
    const cluster = await startCluster(backend);
    onTestFinished(() => cluster.stop());
    const [api, doomed] = await Promise.all([cluster.api(), cluster.worker()]);
    const talk = await startConversation(cluster.core, api.url);
    const load = startLoad(talk, () => [api.url]);
    await load.more(100);
    doomed.freeze();
    await load.more(100);
    await doomed.kill9();
    await load.more(100);
    expect((await cluster.core.repositories.outbox.age()).rows).toBeGreaterThan(0);
    await cluster.worker();
    await load.more(50);
    await load.finish();
    load.expectSmooth();
    await expectExact({ core: cluster.core, url: api.url }, talk, load.acknowledged);
  });
}

workerKill('postgres');
await describeWithRedis('with Redis', () => workerKill('redis'));
