import { expect, test, vi } from 'vitest';
import { runChaos } from '../../../chaos/run.ts';
import { findFreePort } from '../../support/free-port.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { connectSdkClient } from '../../clients/mcp/client.ts';
import { createTestDatabase } from '../../support/servers/postgres/database.ts';
import { buildAgent, issueTokenFor } from '../../support/service.ts';
import { missingHaproxyReason, startHaproxy } from '../../support/servers/haproxy.ts';
import { startDeployment } from '../support/deployment.ts';
import { stopAfterTest } from '../../support/use.ts';

/** Longer than the balancer takes to notice: two checks, one second between them, of three seconds at most. */
const drain = { DRAIN_SECONDS: '8' };

/** An MCP client that repeatedly waits for events until it is stopped. */
async function startWaiting(url: string, token: string) {
  const { client, close } = await connectSdkClient(url, token);
  const over = new AbortController();
  const answers: unknown[] = [];
  const waiting = (async () => {
    while (!over.signal.aborted) {
      answers.push(await client.callTool({ name: 'wait_for_events', arguments: { wait_seconds: 5 } }));
    }
  })();
  // The results are checked at the end.
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
  test('every client sees at most a reconnect, and nothing is lost', async () => {
    const database = stopAfterTest(await createTestDatabase());
    const ports = [await findFreePort(), await findFreePort()] as const;
    const balancer = stopAfterTest(await startHaproxy(ports));
    const deployment = stopAfterTest(await startDeployment(database, balancer.url));
    const begin = (port: number) =>
      deployment.start('api', { env: { PORT: String(port), TRUST_PROXY: 'true', ...drain } });
    const apis = await Promise.all(ports.map(begin));
    const workers = [await deployment.start('worker'), await deployment.start('worker')];
    await vi.waitFor(async () => {
      const up = (await balancer.metrics()).match(/^haproxy_server_status\{proxy="apis",.*state="UP"\} 1$/gm);
      expect(up).toHaveLength(2);
    }, 30_000);
    const model = await buildAgent(deployment.core);
    const client = await startWaiting(
      balancer.url,
      await issueTokenFor(deployment.core, model.handle, { audience: 'mcp' }),
    );

    const { violations, uncertainOutcomes, history } = await runChaos(deployment, {
      async injectFaults() {
        const begun_at = Date.now();
        for (const [index, port] of ports.entries()) {
          await deployment.waitForMoreMessages(20);
          await deployment.terminate(...apis.splice(index, 1));
          apis.splice(index, 0, await begin(port));
        }
        for (const worker of workers) {
          await deployment.waitForMoreMessages(20);
          await deployment.terminate(worker);
          await deployment.start('worker');
        }
        await deployment.waitForMoreMessages(20);
        return [{ kind: 'all replaced', begun_at, ended_at: Date.now() }];
      },
      seed: 81,
      size: { agents: 5, threads: 4 },
      signal: new AbortController().signal,
      log: () => undefined,
      complaints: [],
    });
    expect(violations).toEqual([]);
    // A call over a WebSocket that closes is repeated over the next one. Requests to the balancer are not.
    const repeated = Object.keys(uncertainOutcomes).filter((reason) => !reason.endsWith('(WebSocket)'));
    expect(repeated).toEqual([]);
    for (const { name, connections } of history.readers.filter((reader) => reader.name === 'WebSocket')) {
      expect(connections[name], 'once more for each API').toBeLessThanOrEqual(3);
    }
    expect(await client.finish()).not.toContainEqual(expect.objectContaining({ isError: true }));

    // The balancer's log of every request from any client. It cannot read the close frame that ends a socket.
    const broken = balancer.carried.filter(
      ({ status, ending }) => status >= 500 || status < 100 || (status !== 101 && !/^[-Cc]/.test(ending)),
    );
    expect(broken).toEqual([]);
    expect(new Set(balancer.carried.map(({ server }) => server))).toEqual(new Set(['api-1', 'api-2']));
    expect(await deployment.errors()).toEqual([]);
  });
});
