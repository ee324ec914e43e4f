import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { erasureJob, exportJob } from '../../packages/core/src/domain/agents/erasure-and-export.ts';
import { ownerKey } from '../../src/start/store-owner.ts';
import { beginErasure } from '../../src/services/agents/erasures.ts';
import { requestRest } from '../clients/rest.ts';
import { describeWithRedis } from '../support/servers/redis/server.ts';
import { buildAgent } from '../support/service.ts';
import { uploadId, waitForScan } from '../integration/attachments/setup.ts';
import { startTestCluster } from '../support/cluster/cluster.ts';
import { holdAtStage } from './support/hold-stage.ts';
import { createFolder } from '../support/use.ts';
import { createHash } from 'node:crypto';
import { beginExport } from '../../src/services/agents/exports.ts';
import { runCli } from '../clients/cli.ts';
import { readZip } from '../support/unzip.ts';

await describeWithRedis('a worker killed between any two steps of an erasure', () => {
  test('leaves the rest to the next one, and each row is counted once', async () => {
    const folder = await createFolder();
    const cluster = await startTestCluster('redis');
    const { core } = cluster;
    const own = { DATA_DIR: folder, WORKER_ROLES: 'maintenance' };
    const api = await cluster.startApi({ DATA_DIR: folder });
    const [ann, bob] = await Promise.all([buildAgent(core), buildAgent(core)]);
    const base = `${api.url}/v1`;
    const made = await requestRest('POST', `${base}/threads`, {
      token: ann.token,
      body: { with_handle: bob.handle, initial_message: 'one' },
    });
    const file = await uploadId({ api: base }, ann);
    const said = { content: 'two', attachment_ids: [file] };
    const sent = await requestRest('POST', `${base}/threads/${made.body.id}/messages`, {
      token: ann.token,
      body: said,
    });
    expect([made.status, sent.status]).toEqual([201, 201]);
    const begin = () =>
      core.unitOfWork.write(system, (work) =>
        beginErasure(work, { id: ann.id, canonical_handle: ann.handle, retired: false }, null),
      );
    const { id } = await begin();
    expect((await requestRest('GET', `${base}/agents/me`, { token: ann.token })).status).toBe(401);

    for (const stage of ['belongings', 'feed', 'messages', 'files']) {
      const holder = await holdAtStage(cluster, 'erasures', stage);
      const worker = await cluster.startWorker(own);
      await holder.reached();
      expect((await core.db.erasures.find(id))?.stage).toBe(stage);
      await worker.kill9();
      await holder.release();
    }
    await cluster.startWorker(own);
    const found = () => core.db.erasures.find(id);
    await expect.poll(async () => (await found())?.stage).toBe('done');
    expect(await found()).toMatchObject({
      counts: { messages: 2, files: 1 },
      doomed_keys: [],
      done_at: expect.any(Number),
    });
    const owed = () => core.database.query({ text: 'select from outbox where job = $1' }, [erasureJob]);
    await expect.poll(async () => (await owed()).length).toBe(0);
    const files = await readdir(join(folder, 'blobs'), { recursive: true, withFileTypes: true });
    expect(files.filter((entry) => entry.isFile() && entry.name !== ownerKey)).toEqual([]);
    const list = await requestRest('GET', `${base}/threads/${made.body.id}/messages`, { token: bob.token });
    expect(list.body.messages.map(({ content }: { content: string }) => content)).toEqual(['', '']);
  });
});

await describeWithRedis('a worker killed between any two steps of an export', () => {
  test('leaves the rest to the next one: the export is ready only when the archive is complete, and has no duplicates', async () => {
    const folder = await createFolder();
    const cluster = await startTestCluster('redis', { DATA_DIR: folder });
    const { core, env } = cluster;
    const exporting = { WORKER_ROLES: 'maintenance,attachment-scanning' };
    const api = await cluster.startApi();
    const [ann, bob] = await Promise.all([buildAgent(core), buildAgent(core)]);
    const base = `${api.url}/v1`;
    const file = await uploadId({ api: base }, ann);
    const made = await requestRest('POST', `${base}/threads`, {
      token: ann.token,
      body: { with_handle: bob.handle, initial_message: 'one' },
    });
    expect(made.status).toBe(201);
    const { id } = await core.unitOfWork.write(system, (work) =>
      beginExport(work, { id: ann.id, canonical_handle: ann.handle }, { account_id: null, days: 1 }),
    );
    const out = join(folder, 'ann.zip');
    const fetching = () => runCli(env, ['agent', 'export', ann.handle, '--id', id, '--output', out]);

    for (const stage of ['belongings', 'conversations', 'archive']) {
      const holder = await holdAtStage(cluster, 'agent_exports', stage);
      const worker = await cluster.startWorker(exporting);
      await holder.reached();
      await waitForScan({ api: base }, ann, file);
      expect((await core.db.agentExports.find(id))?.stage).toBe(stage);
      expect((await fetching()).err).toContain('error: This export is not complete yet.');
      await worker.kill9();
      await holder.release();
    }
    await cluster.startWorker(exporting);
    const found = () => core.db.agentExports.find(id);
    await expect.poll(async () => (await found())?.stage).toBe('done');
    const whole = await found();
    expect(whole).toMatchObject({ counts: { agent: 1, thread: 1, message: 1, files: 1 }, part_keys: [] });
    expect((await fetching()).code).toBe(0);
    const archive = await readFile(out);
    expect(createHash('sha256').update(archive).digest('hex')).toBe(whole?.sha256);
    const files = await readZip(archive);
    const lines = files.get('agent.jsonl')?.trim().split('\n') ?? [];
    const kinds = lines.map((line) => JSON.parse(line).kind);
    expect(kinds).toEqual(['agent', 'attachment', 'thread', 'message']);
    expect([...files.keys()]).toContain(`attachments/${file}`);
    const owed = () => core.database.query({ text: 'select from outbox where job = $1' }, [exportJob]);
    await expect.poll(async () => (await owed()).length).toBe(0);
  });
});
