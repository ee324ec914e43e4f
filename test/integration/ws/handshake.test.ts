import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { buildRequestHead, handshakeLines } from '../../clients/raw-socket.ts';
import { connectWebSocket, refused } from '../../clients/websocket.ts';
import { startRealtimeNode } from './realtime-node.ts';
import { stopAfterTest, use } from '../../support/use.ts';

const node = use(startRealtimeNode);

const metadataUrl = 'http://localhost:3000/.well-known/oauth-protected-resource/ws';
const challenge = `Bearer resource_metadata="${metadataUrl}"`;
const badToken = `Bearer error="invalid_token", resource_metadata="${metadataUrl}"`;

function body(code: string) {
  return { error: { code, message: expect.any(String), request_id: expect.any(String) } };
}

test('the token is in the header or the subprotocol, and the first frame is ready', async () => {
  const agent = await node.agent();
  const token = await node.token(agent);
  for (const options of [{ token }, { protocols: ['bearer', token] }]) {
    const client = await connectWebSocket(node.address, options);
    expect(client.ready).toEqual({
      agent_id: agent,
      cursor: node.cursors.encodeFeed(agent, 0),
      resumed: false,
      gap: false,
      pending_events: 0,
    });
    expect(client.protocol).toBe('protocols' in options ? 'bearer' : '');
    await client.close();
  }
});

test('a browser can connect from any origin, because only the token gives access', async () => {
  const token = await node.token(await node.agent());
  const client = await connectWebSocket(node.address, {
    token,
    headers: { Origin: 'https://elsewhere.example' },
  });
  expect(client.ready).toMatchObject({ resumed: false });
  await client.close();
});

test('without a valid token the answer is 401 with the standard error body', async () => {
  const agent = await node.agent();
  const without = await refused(node.address);
  expect(without).toMatchObject({ status: 401, body: body('UNAUTHORIZED') });
  expect(without.headers['www-authenticate']).toBe(challenge);
  expect(without.headers['content-type']).toBe('application/json; charset=utf-8');

  const expired = await node.token(agent, { expires_in: 1 });
  const expires_at = Date.now() + 1_000;
  await expect.poll(Date.now).toBeGreaterThan(expires_at);
  const bad = [
    { token: 'unknown' },
    { protocols: ['bearer', 'unknown'] },
    { token: expired },
    { token: await node.token(agent, { audience: 'mcp' }) },
  ];
  for (const options of bad) {
    const answer = await refused(node.address, { ...options, headers: { 'X-Request-Id': 'request-0001' } });
    expect(answer).toMatchObject({ status: 401, body: { error: { request_id: 'request-0001' } } });
    expect(answer.headers['www-authenticate']).toBe(badToken);
    expect(answer.headers['x-request-id']).toBe('request-0001');
  }
  const noToken = await refused(node.address, { protocols: ['bearer'] });
  expect(noToken.headers['www-authenticate']).toBe(challenge);
});

test('a token that can see no event is refused with the scope that it needs', async () => {
  const token = await node.token(await node.agent(), { scopes: ['threads:write'] });
  const answer = await refused(node.address, { token });
  expect(answer).toMatchObject({ status: 403, body: body('INSUFFICIENT_SCOPE') });
  expect(answer.headers['www-authenticate']).toContain('scope="realtime:read"');
});

test('an invalid or foreign cursor is refused before the upgrade', async () => {
  const agent = await node.agent();
  const token = await node.token(agent);
  for (const cursor of ['', 'nonsense', node.cursors.encodeFeed(await node.agent(), 0)]) {
    expect(await refused(node.address, { token, cursor })).toMatchObject({
      status: 400,
      body: body('INVALID_CURSOR'),
    });
  }
});

test('an unknown or repeated parameter is named before the upgrade', async () => {
  const token = await node.token(await node.agent());
  for (const [path, field] of [
    ['/ws?since=1', 'since'],
    ['/ws?cursor=latest&cursor=earliest', 'cursor'],
  ] as const)
    expect(await refused(node.address, { token, path })).toMatchObject({
      status: 400,
      body: { error: { code: 'VALIDATION_ERROR', details: [{ field }] } },
    });
});

test('an agent with too many open streams gets no other one until one of them ends', async () => {
  const small = stopAfterTest(await startRealtimeNode({ realtime: { streams_per_agent: 2 } }));
  const agent = await small.agent();
  const token = await small.token(agent);
  const [first] = await Promise.all([
    connectWebSocket(small.address, { token }),
    connectWebSocket(small.address, { token }),
  ]);
  const answer = await refused(small.address, { token });
  expect(answer).toMatchObject({ status: 429, body: body('RATE_LIMITED') });
  expect(answer.headers['retry-after']).toBe('5');
  const headers = { Authorization: `Bearer ${token}` };
  const poll = await fetch(`${small.address}/v1/events?wait=30`, { headers });
  expect([poll.status, poll.headers.get('retry-after')]).toEqual([429, '5']);
  const other = await connectWebSocket(small.address, { token: await small.token(await small.agent()) });

  await first.close();
  await expect.poll(() => small.webSocket.size()).toBe(2);
  const again = await connectWebSocket(small.address, { token });
  await Promise.all([again.close(), other.close()]);
});

test('only /ws accepts a handshake', async () => {
  const token = await node.token(await node.agent());
  for (const path of ['/', '/ws/', '/v1/ws', '/ws%2f']) {
    expect(await refused(node.address, { token, path })).toMatchObject({
      status: 404,
      body: body('NOT_FOUND'),
    });
  }
});

/** Sends a request byte by byte as given and answers everything that came back. */
async function raw(lines: string[]): Promise<string> {
  const socket = connectTcp(node.port, '127.0.0.1');
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return text(socket);
}

test('a request that is not a WebSocket handshake gets a JSON error', async () => {
  const token = await node.token(await node.agent());
  const common = ['Host: localhost', 'Connection: Upgrade', `Authorization: Bearer ${token}`];
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
  const wrong = [
    ['GET /ws HTTP/1.1', ...common, 'Upgrade: h2c, websocket', key, 'Sec-WebSocket-Version: 13'],
    ['GET /ws HTTP/1.1', ...common, 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
    ['GET /ws HTTP/1.1', ...common, 'Upgrade: websocket', key, 'Sec-WebSocket-Version: 99'],
    ['POST /ws HTTP/1.1', ...common, 'Upgrade: websocket', key, 'Sec-WebSocket-Version: 13'],
  ];
  for (const lines of wrong) {
    const answer = await raw(lines);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toContain('Connection: close\r\n');
    expect(answer).toContain('Sec-WebSocket-Version: 13\r\n');
    expect(answer).toMatch(/\r\nX-Request-Id: [\w-]{36}\r\n/);
    const [head, json = ''] = answer.split('\r\n\r\n');
    expect(head).toContain(`Content-Length: ${Buffer.byteLength(json)}`);
    expect(JSON.parse(json)).toEqual(body('VALIDATION_ERROR'));
  }
});

test('an accepted handshake has the id of the request, no compression and no subprotocol', async () => {
  const socket = connectTcp(node.port, '127.0.0.1');
  const lines = [
    'GET /ws HTTP/1.1',
    'Host: localhost',
    'Connection: keep-alive, Upgrade',
    'Upgrade: WebSocket',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits',
    'Sec-WebSocket-Protocol: chat, superchat',
    'X-Request-Id: request-0002',
    `Authorization: Bearer ${await node.token(await node.agent())}`,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  const [answer = ''] = head.toString('latin1').split('\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 101 /);
  expect(answer).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
  expect(answer).toContain('X-Request-Id: request-0002');
  expect(answer).not.toMatch(/Sec-WebSocket-(?:Extensions|Protocol)/i);
  socket.destroy();
  await expect.poll(() => node.webSocket.size()).toBe(0);
});

test('connections cut in the middle of a handshake do not affect other clients', async () => {
  const token = await node.token(await node.agent());
  const request = buildRequestHead(handshakeLines(token));
  const sockets = Array.from({ length: 60 }, (_, index) => {
    const socket = connectTcp(node.port, '127.0.0.1', () => {
      socket.write(index % 3 === 0 ? request.slice(0, 100) : request);
      if (index % 2 === 0) socket.resetAndDestroy();
      else setImmediate(() => socket.resetAndDestroy());
    });
    return new Promise((resolve) => socket.on('error', resolve).on('close', resolve));
  });
  await Promise.all(sockets);
  const client = await connectWebSocket(node.address, { token });
  await client.close();
  await expect.poll(() => node.webSocket.size()).toBe(0);
  expect(node.logged).toEqual([]);
});
