import { readdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { erasureJob } from '../../src/domain/erasures.ts';
import { beginErasure } from '../../src/services/erasure.ts';
import { rest } from '../support/rest-client.ts';
import { describeWithRedis } from '../support/redis-server.ts';
import { buildAgent } from '../support/service.ts';
import { uploaded } from '../integration/files/house.ts';
import { startCluster } from '../integration/workers/cluster.ts';
import { holdAt } from './support/hold-stage.ts';

vi.setConfig({ testTimeout: 240_000 });

await describeWithRedis('a worker killed between any two steps of an erasure', () => {
  test('leaves the rest to the next one, and each row is counted once', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ams-erasure-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const cluster = await startCluster('redis');
    onTestFinished(() => cluster.stop());
    const { core } = cluster;
    const own = { DATA_DIR: folder, WORKER_ROLES: 'maintenance' };
    const api = await cluster.api({ DATA_DIR: folder });
    const [ann, bob] = await Promise.all([buildAgent(core), buildAgent(core)]);
    const base = `${api.url}/v1`;
    const made = await rest('POST', `${base}/threads`, {
      token: ann.token,
      body: { with_handle: bob.handle, initial_message: 'one' },
    });
    const file = await uploaded({ api: base }, ann);
    const said = { content: 'two', attachment_ids: [file] };
    const sent = await rest('POST', `${base}/threads/${made.body.id}/messages`, {
      token: ann.token,
      body: said,
    });
    expect([made.status, sent.status]).toEqual([201, 201]);
    const begin = () =>
      core.unitOfWork.record((work) =>
        beginErasure(work, { id: ann.id, canonical_handle: ann.handle, retired: false }, null),
      );
    const { id } = await begin();
    expect((await rest('GET', `${base}/agents/me`, { token: ann.token })).status).toBe(401);

    for (const stage of ['belongings', 'feed', 'messages', 'files']) {
      const holder = await holdAt(cluster, 'erasures', stage);
      const worker = await cluster.worker(own);
      await holder.reached();
      expect((await core.repositories.erasures.find(id))?.stage).toBe(stage);
      await worker.kill9();
      await holder.release();
    }
    await cluster.worker(own);
    const found = () => core.repositories.erasures.find(id);
    await expect.poll(async () => (await found())?.stage, { timeout: 60_000, interval: 100 }).toBe('done');
    expect(await found()).toMatchObject({
      counts: { messages: 2, files: 1 },
      doomed_keys: [],
      done_at: expect.any(Number),
    });
    const owed = () => core.database.query({ text: 'select from outbox where job = $1' }, [erasureJob]);
    await expect.poll(async () => (await owed()).length, { timeout: 60_000 }).toBe(0);
    const files = await readdir(join(folder, 'blobs'), { recursive: true, withFileTypes: true });
    expect(files.filter((entry) => entry.isFile())).toEqual([]);
    const list = await rest('GET', `${base}/threads/${made.body.id}/messages`, { token: bob.token });
    expect(list.body.messages.map(({ content }: { content: string }) => content)).toEqual(['', '']);
  });
});
