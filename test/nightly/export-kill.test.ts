import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { exportJob } from '../../src/domain/exports.ts';
import { beginExport } from '../../src/services/agent-export.ts';
import { ams } from '../integration/cli/ams.ts';
import { scanned, uploaded } from '../integration/files/house.ts';
import { startCluster } from '../integration/workers/cluster.ts';
import { describeWithRedis } from '../support/redis-server.ts';
import { rest } from '../support/rest-client.ts';
import { buildAgent } from '../support/service.ts';
import { unzipped } from '../support/unzip.ts';
import { holdAt } from './support/hold-stage.ts';

vi.setConfig({ testTimeout: 240_000 });

await describeWithRedis('a worker killed between any two steps of an export', () => {
  test('leaves the rest to the next one: nothing is called done before the archive is whole, and nothing is in it twice', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ams-export-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const cluster = await startCluster('redis', { DATA_DIR: folder });
    onTestFinished(() => cluster.stop());
    const { core, env } = cluster;
    const exporting = { WORKER_ROLES: 'maintenance,attachment-scanning' };
    const api = await cluster.api();
    const [ann, bob] = await Promise.all([buildAgent(core), buildAgent(core)]);
    const base = `${api.url}/v1`;
    const file = await uploaded({ api: base }, ann);
    const made = await rest('POST', `${base}/threads`, {
      token: ann.token,
      body: { with_handle: bob.handle, initial_message: 'one' },
    });
    expect(made.status).toBe(201);
    const { id } = await core.unitOfWork.record((work) =>
      beginExport(work, { id: ann.id, canonical_handle: ann.handle }, { account_id: null, days: 1 }),
    );
    const out = join(folder, 'ann.zip');
    const fetching = () => ams(env, ['agent', 'export', ann.handle, '--id', id, '--output', out]);

    for (const stage of ['belongings', 'conversations', 'archive']) {
      const holder = await holdAt(cluster, 'agent_exports', stage);
      const worker = await cluster.worker(exporting);
      await holder.reached();
      await scanned({ api: base }, ann, file);
      expect((await core.repositories.agentExports.find(id))?.stage).toBe(stage);
      expect((await fetching()).err).toBe('error: This export is not done yet.\n');
      await worker.kill9();
      await holder.release();
    }
    await cluster.worker(exporting);
    const found = () => core.repositories.agentExports.find(id);
    await expect.poll(async () => (await found())?.stage, { timeout: 60_000, interval: 100 }).toBe('done');
    const whole = await found();
    expect(whole).toMatchObject({ counts: { agent: 1, thread: 1, message: 1, files: 1 }, part_keys: [] });
    expect((await fetching()).code).toBe(0);
    const archive = await readFile(out);
    expect(createHash('sha256').update(archive).digest('hex')).toBe(whole?.sha256);
    const files = await unzipped(archive);
    const lines = files.get('agent.jsonl')?.trim().split('\n') ?? [];
    const kinds = lines.map((line) => JSON.parse(line).kind);
    expect(kinds).toEqual(['agent', 'attachment', 'thread', 'message']);
    expect([...files.keys()]).toContain(`attachments/${file}`);
    const owed = () => core.database.query({ text: 'select from outbox where job = $1' }, [exportJob]);
    await expect.poll(async () => (await owed()).length, { timeout: 60_000 }).toBe(0);
  });
});
