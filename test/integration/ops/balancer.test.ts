import { once } from 'node:events';
import { createServer } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { expect, onTestFinished, test, vi } from 'vitest';
import { missingHaproxyReason, startHaproxy } from '../../support/servers/haproxy.ts';
import { findFreePort } from '../../support/free-port.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';

/** An API that is ready and answers every request with its name. */
async function startNamedApi(name: string, port: number) {
  const server = createServer((_request, response) => response.end(name));
  const sockets = new WebSocketServer({ server });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    name,
    sockets: () => sockets.clients.size,
    stop() {
      for (const socket of sockets.clients) socket.terminate();
      server.close();
      server.closeAllConnections();
    },
  };
}

describeUnless(missingHaproxyReason, 'the load balancer', () => {
  test('sends the requests for a thread to one process, and to another one while that is down', async () => {
    const ports = [await findFreePort(), await findFreePort()] as const;
    const balancer = await startHaproxy(ports);
    onTestFinished(() => balancer.stop());
    const apis = [await startNamedApi('one', ports[0]), await startNamedApi('two', ports[1])];
    onTestFinished(() => apis.forEach((api) => api.stop()));
    await vi.waitFor(async () => {
      const up = (await balancer.metrics()).match(/^haproxy_server_status\{.*state="UP"\} 1$/gm);
      expect(up, 'each in both backends').toHaveLength(4);
    }, 30_000);
    const ask = async (path: string) => (await fetch(`${balancer.url}${path}`)).text();
    const threads = Array.from({ length: 40 }, (_, at) => `/v1/threads/thd_${at * 7919}`);
    // One after the other: the balancer moves concurrent requests away from a busy process.
    const askAll = async (rest = '/messages') => {
      const names: string[] = [];
      for (const thread of threads) names.push(await ask(`${thread}${rest}`));
      return names;
    };

    const homes = await askAll();
    expect(new Set(homes)).toEqual(new Set(['one', 'two']));
    // A request that is just ending can still count as load, and move the next one. Without affinity half of the threads would move.
    const expectAtHome = (names: readonly string[]) =>
      expect(names.filter((name, at) => name !== homes[at]).length).toBeLessThanOrEqual(4);
    expectAtHome(await askAll('/receipts?limit=1'));

    const clients = Array.from(
      { length: 8 },
      () => new WebSocket(`${balancer.url.replace('http', 'ws')}/ws`),
    );
    await Promise.all(clients.map((client) => once(client, 'open')));
    expect(apis.map((api) => api.sockets())).toEqual([4, 4]);

    apis[1]?.stop();
    await vi.waitFor(async () => expect(new Set(await askAll())).toEqual(new Set(['one'])), 30_000);
    apis[1] = await startNamedApi('two', ports[1]);
    await vi.waitFor(async () => expectAtHome(await askAll()), 30_000);
    for (const client of clients) client.terminate();
  });
});
