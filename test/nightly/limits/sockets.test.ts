import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type LightSocket, openLightSocket } from '../../../bench/load/light-socket.ts';
import { readMemory } from '../../../bench/load/processes.ts';
import { requestRest } from '../../clients/rest.ts';
import { startTestCluster } from '../../support/cluster/cluster.ts';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { buildAgent } from '../../support/service.ts';
import { readPid } from './process-limits.ts';

/** An agent can have 1,000 connections. */
const socketsEach = 1_000;
/** Files that both processes need besides the sockets. */
const spare = 1_000;

/** 20,000 sockets, or as many as this process may open. */
function countAgents(): number {
  const [, files = '0'] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return Math.min(20, Math.floor((Number(files) - spare) / socketsEach));
}

await describeWithRedis('one API process', () => {
  test('takes a storm of 1,000 connects each second up to 20,000 idle sockets, and reaches each', async () => {
    const cluster = await startTestCluster('redis');
    const [api] = await Promise.all([cluster.startApi(), cluster.startWorker()]);
    const pid = readPid(api);
    const sender = await buildAgent(cluster.core);
    const agents = await Promise.all(Array.from({ length: countAgents() }, () => buildAgent(cluster.core)));
    const before = readMemory(pid, 'VmRSS');
    const open: LightSocket[] = [];
    const failures: string[] = [];
    let events = 0;
    onTestFinished(() => open.forEach((socket) => socket.close()));

    async function connect(token: string): Promise<void> {
      const onLost = (error: Error) => void failures.push(error.message);
      const onFrame = (frame: Buffer) => {
        if (frame.includes('"type":"message.created"')) events += 1;
      };
      const options = { base: api.url, path: '/ws', token, awaitReady: true, onFrame, onLost };
      await openLightSocket(options).then((socket) => open.push(socket), onLost);
    }

    const startedAt = performance.now();
    for (const { token } of agents) {
      const second = pause(1_000);
      void Array.from({ length: socketsEach }, () => connect(token));
      await second;
    }
    const expected = agents.length * socketsEach;
    await vi.waitFor(() => expect(open.length + failures.length).toBe(expected), { timeout: 120_000 });
    expect(failures).toEqual([]);
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const growth = readMemory(pid, 'VmRSS') - before;

    for (const { handle } of agents) {
      const body = { participants: [handle], initial_message: 'Hello' };
      const made = await requestRest('POST', `${api.url}/v1/threads`, { token: sender.token, body });
      expect(made.status).toBe(201);
    }
    await vi.waitFor(() => expect(events).toBe(expected), { timeout: 60_000 });
    expect(failures).toEqual([]);
    expect((await fetch(`${api.url}/readyz`)).status).toBe(200);
    console.log(
      `${expected} sockets open after ${seconds} s, ${Math.round(growth / expected / 1_000)} KB each`,
    );
  });
});
