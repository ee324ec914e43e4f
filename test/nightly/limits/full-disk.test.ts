import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startConversation, startTestCluster } from '../../support/cluster/cluster.ts';
import { startMessageLoad } from '../../support/cluster/message-load.ts';
import { findMountProblem, mountSmallDisk } from '../../support/servers/postgres/small-disk.ts';
import { findRedisBinary } from '../../support/servers/redis/binary.ts';
import { startTestRedis } from '../../support/servers/redis/server.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { startWatchedLoad } from './watched-load.ts';

async function useDisk() {
  const disk = await mountSmallDisk();
  onTestFinished(() => disk.unmount());
  return disk;
}

const binary = await findRedisBinary();
const problem = (await findMountProblem()) ?? ('missing' in binary ? binary.missing : undefined);

describeUnless(problem, 'a full disk', () => {
  test('of attachments: uploads are 503 and leave nothing, messages go through', async () => {
    const disk = await useDisk();
    const cluster = await startTestCluster('redis', { DATA_DIR: disk.folder });
    const [api] = await Promise.all([cluster.startApi(), cluster.startWorker()]);
    const talk = await startConversation(cluster.core, api.url);
    const load = startMessageLoad(talk, () => [api.url]);
    const { token } = talk.members[0];
    const upload = async () => {
      const body = new FormData();
      body.set('file', new Blob([Buffer.alloc(5 * 1_024 * 1_024, 'x')], { type: 'text/plain' }), 'a.txt');
      const headers = { Authorization: `Bearer ${token}`, 'Idempotency-Key': randomUUID() };
      const answer = await fetch(`${api.url}/v1/attachments`, { method: 'POST', body, headers });
      const { error } = await answer.json();
      return [answer.status, error?.code, answer.headers.get('retry-after')];
    };
    expect(await upload()).toEqual([201, undefined, null]);

    await disk.fill();
    for (let uploads = 0; uploads < 3; uploads += 1)
      expect(await upload()).toEqual([503, 'UNAVAILABLE', '5']);
    expect(await readdir(join(disk.folder, 'blobs', 'drafts'))).toEqual([]);
    expect(api.log()).toMatch(/"level":50.*ENOSPC/);
    await load.waitForMore(50);
    expect((await fetch(`${api.url}/readyz`)).status).toBe(200);

    await disk.empty();
    expect(await upload()).toEqual([201, undefined, null]);
    await load.finish();
    load.expectNoErrors();
  });

  test('of a Redis with an append-only file: no call is refused, and jobs run afterwards', async () => {
    const disk = await useDisk();
    const redis = await startTestRedis({ persist: true, settings: { dir: disk.folder } });
    onTestFinished(() => redis.stop());
    const cluster = await startTestCluster('redis', { REDIS_URL: redis.url });
    const [api] = await Promise.all([cluster.startApi(), cluster.startWorker()]);
    const { load, health, waitForFollower, expectEverything } = await startWatchedLoad(cluster, api);

    await disk.fill();
    await expect.poll(health).toMatchObject({ status: 'degraded', parts: { queues: 'failed' } });
    await load.waitForMore(100);
    await waitForFollower();

    await disk.empty();
    await expect.poll(health).toMatchObject({ status: 'ok' });
    await expectEverything();
    load.expectNoErrors();
  });
});
