import { expect, onTestFinished, test, vi } from 'vitest';
import { runChaos } from '../../../chaos/run.ts';
import { findFreePort } from '../../support/free-port.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { connectSdkClient } from '../../clients/mcp/client.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';
import { buildAgent, issueTokenFor } from '../../support/service.ts';
import { missingHaproxyReason, startHaproxy } from '../../support/servers/haproxy.ts';
import { startDeployment } from '../support/deployment.ts';

/** Longer than the balancer takes to notice: two checks, one second between them, of three seconds at most. */
const drain = { DRAIN_SECONDS: '8' };

/** A model's client that waits for events in one call after the other, until it is told to stop. */
async function startWaiting(url: string, token: string) {
  const { client, close } = await connectSdkClient(url, token);
  const over = new AbortController();
  const answers: unknown[] = [];
  const waiting = (async () => {
    while (!over.signal.aborted) {
      answers.push(await client.callTool({ name: 'wait_for_events', arguments: { wait_seconds: 5 } }));
    }
  })();
  // Looked at in the end.
  waiting.catch(() => undefined);
  return {
    async finish() {
      over.abort();
      await waiting;
      await close();
      return answers;
    },
  };
}

describeUnless(missingHaproxyReason, 'every process is replaced, one after the other, under load', () => {
  test('no caller sees more than a reconnect, and nothing is lost', async () => {
    const database = await createTestDatabase();
    onTestFinished(() => database.drop());
    const ports = [await findFreePort(), await findFreePort()] as const;
    const balancer = await startHaproxy(ports);
    onTestFinished(() => balancer.stop());
    const house = await startDeployment(database, balancer.url);
    onTestFinished(() => house.stop());
    const begin = (port: number) =>
      house.start('api', { env: { PORT: String(port), TRUST_PROXY: 'true', ...drain } });
    const apis = await Promise.all(ports.map(begin));
    const workers = [await house.start('worker'), await house.start('worker')];
    await vi.waitFor(async () => {
      const up = (await balancer.metrics()).match(/^haproxy_server_status\{.*state="UP"\} 1$/gm);
      expect(up).toHaveLength(2);
    }, 30_000);
    const model = await buildAgent(house.core);
    const client = await startWaiting(
      balancer.url,
      await issueTokenFor(house.core, model.handle, { audience: 'mcp' }),
    );

    const { violations, uncertainOutcomes, history } = await runChaos(house, {
      async injectFaults() {
        const begun_at = Date.now();
        for (const [index, port] of ports.entries()) {
          await house.waitForMoreMessages(20);
          await house.terminate(...apis.splice(index, 1));
          apis.splice(index, 0, await begin(port));
        }
        for (const worker of workers) {
          await house.waitForMoreMessages(20);
          await house.terminate(worker);
          await house.start('worker');
        }
        await house.waitForMoreMessages(20);
        return [{ kind: 'all replaced', begun_at, ended_at: Date.now() }];
      },
      seed: 81,
      size: { agents: 5, threads: 4 },
      signal: new AbortController().signal,
      log: () => undefined,
      complaints: [],
    });
    expect(violations).toEqual([]);
    expect(uncertainOutcomes).toEqual({});
    for (const { name, connections } of history.readers.filter((reader) => reader.name === 'WebSocket')) {
      expect(connections[name], 'once more for each API').toBeLessThanOrEqual(3);
    }
    expect(await client.finish()).not.toContainEqual(expect.objectContaining({ isError: true }));

    // What the balancer saw of every request, whoever sent it. Sockets end in a close frame, which it cannot read.
    const broken = balancer.carried.filter(
      ({ status, ending }) => status >= 500 || status < 100 || (status !== 101 && !/^[-Cc]/.test(ending)),
    );
    expect(broken).toEqual([]);
    expect(new Set(balancer.carried.map(({ server }) => server))).toEqual(new Set(['api-1', 'api-2']));
    expect(await house.errors()).toEqual([]);
  });
});
