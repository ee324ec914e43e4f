import { readdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { erasureJob } from '../../src/domain/erasures.ts';
import { beginErasure } from '../../src/services/erasure.ts';
import { rest } from '../support/rest-client.ts';
import { describeWithRedis } from '../support/redis-server.ts';
import { buildAgent } from '../support/service.ts';
import { uploaded } from '../integration/files/house.ts';
import { type Cluster, startCluster } from '../integration/workers/cluster.ts';

vi.setConfig({ testTimeout: 240_000 });

/** Has every erasure stop right before it leaves `stage`, as a step that takes long would. */
async function holdAt({ env }: Cluster, stage: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: env['DATABASE_URL'] });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('select pg_advisory_lock(4711)');
  await client.query(`
    create or replace function hold_erasure() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock_shared(4711); return new; end $$;
    create or replace trigger hold_erasure before update on erasures for each row
      when (old.stage = '${stage}' and new.stage <> '${stage}') execute function hold_erasure()`);
  return client;
}

const held = `select count(*)::int as waiting from pg_locks where locktype = 'advisory' and objid = 4711 and not granted`;

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
      const holder = await holdAt(cluster, stage);
      const worker = await cluster.worker(own);
      const waiting = async () => (await holder.query<{ waiting: number }>(held)).rows[0]?.waiting ?? 0;
      await expect.poll(waiting, { timeout: 60_000, interval: 50 }).toBeGreaterThan(0);
      expect((await core.repositories.erasures.find(id))?.stage).toBe(stage);
      await worker.kill9();
      await holder.query('select pg_terminate_backend(pid) from pg_locks where objid = 4711 and not granted');
      await holder.end();
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
