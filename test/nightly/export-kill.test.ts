import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exportJob } from '../../packages/core/src/domain/agents/erasure-and-export.ts';
import { beginExport } from '../../src/services/agents/exports.ts';
import { runCli } from '../clients/cli.ts';
import { waitForScan, uploadId } from '../integration/attachments/setup.ts';
import { startTestCluster } from '../support/cluster/cluster.ts';
import { describeWithRedis } from '../support/servers/redis/server.ts';
import { requestRest } from '../clients/rest.ts';
import { buildAgent } from '../support/service.ts';
import { readZip } from '../support/unzip.ts';
import { holdAtStage } from './support/hold-stage.ts';
import { createFolder } from '../support/use.ts';

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
