import { afterEach, expect, onTestFinished, test } from 'vitest';
import { startService } from '../../support/service.ts';
import { buildRequestHead, handshakeLines, opcodes, openRawConnection } from '../../clients/raw-socket.ts';
import { connectWebSocket, refused, type WsClient } from '../../clients/websocket.ts';
import { type RealtimeNodeOptions, startRealtimeNode } from './realtime-node.ts';

async function start(options: RealtimeNodeOptions = {}) {
  const node = await startRealtimeNode(options);
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= node.stop());
  onTestFinished(stop);
  return { ...node, stop };
}

const clients: WsClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect();
});
async function connectClient(...args: Parameters<typeof connectWebSocket>): Promise<WsClient> {
  const client = await connectWebSocket(...args);
  clients.push(client);
  return client;
}

/** A client that opens a WebSocket and never says a word again, but counts pings. Resolves when the service took it. */
async function connectUnresponsive(address: string, token: string) {
  const { socket, answered, waitFor, waitForEnd } = openRawConnection(address);
  socket.write(buildRequestHead(handshakeLines(token)));
  await waitFor(({ head }) => head !== '');
  return {
    cut: waitForEnd,
    pings: () => answered().frames.filter(({ opcode }) => opcode === opcodes.ping).length,
  };
}

test('a token that expires ends its connection with 1008', async () => {
  const node = await start();
  const token = await node.token(await node.agent(), { expires_in: 3 });
  const client = await connectClient(node.address, { token });
  expect(await client.closed).toMatchObject({ code: 1008 });
});

test('a revoked token ends its connections at once, and no others', async () => {
  const node = await start();
  const agent = await node.agent();
  const [gone, stays] = [await node.token(agent), await node.token(agent)];
  const ended = await connectClient(node.address, { token: gone });
  const open = await connectClient(node.address, { token: stays });
  const { token_id } = await node.tokens.verify(gone, 'ws');
  await node.publishRevocations([{ token_id }]);
  expect(await ended.closed).toMatchObject({ code: 1008 });
  await node.emit([agent], 'still there');
  await open.next(({ data }) => data?.['subject'] === 'still there');
});

test('a reader that stops reading is closed with 4008, delays no other client, and resumes without loss', async () => {
  const node = await start({
    webSocketLimits: { buffered_bytes: 64 * 1024, drain_ms: 300, close_ms: 60_000 },
  });
  const agent = await node.agent();
  const token = await node.token(agent);
  const slow = await connectClient(node.address, { token });
  const quick = await connectClient(node.address, { token });
  slow.pause();
  const filling = 'x'.repeat(20_000);
  // More than any buffer of the two kernels holds.
  const total = 1_000;
  for (let number = 0; number < total; number += 1) await node.emit([agent], `${number}:${filling}`);
  await quick.waitUntil(() => quick.events().length === total);
  // The service has given it up by now, behind everything that still lies in the buffers.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  slow.resume();
  expect(await slow.closed).toMatchObject({ code: 4008 });
  const seen = slow.events();
  expect(seen.length).toBeLessThan(total);

  const again = await connectClient(node.address, {
    token,
    cursor: seen.at(-1)?.cursor ?? slow.ready.cursor,
  });
  await again.waitUntil(() => again.events().length === total - seen.length);
  const all = [...seen, ...again.events()];
  expect(all.map(({ id }) => id)).toEqual(quick.events().map(({ id }) => id));
  const numbers = all.map(({ data }) => Number.parseInt(String(data?.['subject']), 10));
  expect(numbers).toEqual(Array.from({ length: total }, (_, number) => number));
});

test('a reader whose unread events were removed is told to reconnect, and then gets a gap', async () => {
  const node = await start({ webSocketLimits: { buffered_bytes: 16 * 1024, drain_ms: 60_000 } });
  const agent = await node.agent();
  const token = await node.token(agent);
  const slow = await connectClient(node.address, { token });
  const quick = await connectClient(node.address, { token });
  slow.pause();
  const filling = 'x'.repeat(500_000);
  for (let number = 0; number < 40; number += 1) await node.emit([agent], `${number}:${filling}`);
  await quick.waitUntil(() => quick.events().length === 40);
  await node.database.query({ text: 'delete from feed where agent_id = $1 and number < 40' }, [agent]);
  slow.resume();
  expect(await slow.closed).toMatchObject({ code: 4008 });
  const seen = slow.events();
  expect(seen.length).toBeLessThan(39);

  const again = await connectClient(node.address, {
    token,
    cursor: seen.at(-1)?.cursor ?? slow.ready.cursor,
  });
  expect(again.ready).toMatchObject({ resumed: true, gap: true });
  await again.waitUntil(() => again.events().length === 1);
  expect(again.events()[0]?.cursor).toBe(node.cursors.encodeFeed(agent, 40));
});

test('a reader that is slow but reads gets everything', async () => {
  const node = await start({ webSocketLimits: { buffered_bytes: 16 * 1024 } });
  const agent = await node.agent();
  const client = await connectClient(node.address, { token: await node.token(agent) });
  const filling = 'x'.repeat(20_000);
  for (let number = 0; number < 200; number += 1) await node.emit([agent], `${number}:${filling}`);
  const pauses = setInterval(() => {
    client.pause();
    setTimeout(() => client.resume(), 5);
  }, 10);
  await client.waitUntil(() => client.events().length === 200);
  clearInterval(pauses);
  const numbers = client.events().map(({ data }) => Number.parseInt(String(data?.['subject']), 10));
  expect(numbers).toEqual(Array.from({ length: 200 }, (_, number) => number));
});

test('a client that answers no pings is disconnected; one that does is not', async () => {
  const node = await start({ webSocketLimits: { ping_ms: 100 } });
  const token = await node.token(await node.agent());
  const alive = await connectClient(node.address, { token });
  const silent = await connectUnresponsive(node.address, token);
  await silent.cut;
  expect(silent.pings()).toBe(2);
  alive.send({ type: 'ping' });
  await alive.next(({ type }) => type === 'pong');
  expect(node.webSocket.size()).toBe(1);
});

test('a stopping process sends pending events, closes connections with 1001 one after another, and accepts no new ones', async () => {
  const node = await start({ webSocketLimits: { spread_ms: 600 } });
  const agent = await node.agent();
  const token = await node.token(agent);
  const open = await Promise.all(Array.from({ length: 6 }, () => connectClient(node.address, { token })));
  const goodbyes: number[] = [];
  for (const client of open) void client.closed.then(() => goodbyes.push(Date.now()));
  await node.emit([agent], 'last');
  await Promise.all(open.map((client) => client.next(({ data }) => data?.['subject'] === 'last')));
  const closing = node.webSocket.close();
  expect(await refused(node.address, { token })).toMatchObject({
    status: 503,
    headers: { 'retry-after': '1' },
    body: { error: { code: 'UNAVAILABLE' } },
  });
  await closing;
  for (const client of open) expect(await client.closed).toMatchObject({ code: 1001 });
  expect(Math.max(...goodbyes) - Math.min(...goodbyes)).toBeGreaterThan(300);
  expect(node.webSocket.size()).toBe(0);
});

test('a client that does not answer the close frame does not delay the stop', async () => {
  const node = await start({ webSocketLimits: { spread_ms: 0, close_ms: 200 } });
  const client = await connectClient(node.address, { token: await node.token(await node.agent()) });
  client.pause();
  await node.stop();
  expect(node.webSocket.size()).toBe(0);
});

test('clients that never answer the close frame do not prevent a process from stopping in time', async () => {
  const service = await startService({ worker: false });
  const { token } = await service.agent();
  const dead = await Promise.all(Array.from({ length: 3 }, () => connectUnresponsive(service.url, token)));
  expect(await service.stop()).toBe(true);
  await Promise.all(dead.map(({ cut }) => cut));
});

test('connections also end with 1001 when the reader closes first', async () => {
  const node = await start();
  const client = await connectClient(node.address, { token: await node.token(await node.agent()) });
  await node.realtime.close();
  expect(await client.closed).toMatchObject({ code: 1001 });
});
