import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { openLightSocket } from '../../../bench/load/light-socket.ts';
import { readMemory } from '../../../bench/load/processes.ts';
import { startConversation, startTestCluster } from '../../support/cluster/cluster.ts';
import { expectExactlyOnce } from '../../support/cluster/delivery-check.ts';
import { startMessageLoad } from '../../support/cluster/message-load.ts';
import { buildAgent } from '../../support/service.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { limitData, missingLimitsReason, readPid } from './process-limits.ts';

const megabyte = 1_024 * 1_024;
const limit = 512 * megabyte;
const [agents, socketsEach, uploads] = [5, 1_000, 10];

async function upload(url: string, token: string): Promise<number> {
  const body = new FormData();
  body.set('file', new Blob([Buffer.alloc(9 * megabyte, 'x')], { type: 'text/plain' }), 'large.txt');
  const headers = { Authorization: `Bearer ${token}`, 'Idempotency-Key': randomUUID() };
  return (await fetch(`${url}/v1/attachments`, { method: 'POST', body, headers })).status;
}

describeUnless(missingLimitsReason, 'API and worker with 512 MB', () => {
  test('serve messages, 5,000 sockets and ten large uploads at once, and stop cleanly', async () => {
    const cluster = await startTestCluster('redis', { UPLOADS_PER_AGENT: String(uploads) });
    // A limit of the data of the process: an allocation above it fails, and the process ends.
    const env = limitData(limit);
    const processes = await Promise.all([cluster.startApi(env), cluster.startWorker(env)]);
    const [api] = processes;
    const talk = await startConversation(cluster.core, api.url);
    const load = startMessageLoad(talk, () => [api.url]);
    await load.waitForMore(300);

    const lost: Error[] = [];
    for (let count = 0; count < agents; count += 1) {
      const { token } = await buildAgent(cluster.core);
      const open = () =>
        openLightSocket({
          base: api.url,
          path: '/ws',
          token,
          awaitReady: true,
          onFrame: () => undefined,
          onLost: (error) => void lost.push(error),
        });
      for (let wave = 0; wave < socketsEach; wave += 200) {
        const sockets = await Promise.all(Array.from({ length: 200 }, open));
        onTestFinished(() => sockets.forEach((socket) => socket.close()));
      }
    }
    const { token } = await buildAgent(cluster.core);
    const statuses = await Promise.all(Array.from({ length: uploads }, () => upload(api.url, token)));
    expect(new Set(statuses)).toEqual(new Set([201]));
    await load.waitForMore(300);
    await load.finish();
    load.expectNoErrors();
    expect(lost).toEqual([]);
    await expectExactlyOnce({ core: cluster.core, url: api.url }, talk, load.acknowledged);
    const peaks = processes.map((each) => Math.round(readMemory(readPid(each), 'VmHWM') / megabyte));
    console.log(`peak of the resident memory of API and worker: ${peaks.join(' and ')} MB`);
    expect(Math.max(...peaks) * megabyte).toBeLessThan(limit);
    const endings = await Promise.all(processes.map((each) => each.terminate()));
    expect(endings.map(({ code }) => code)).toEqual([0, 0]);
  });
});
