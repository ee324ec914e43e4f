import { once } from 'node:events';
import { createServer as createPlain } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  createWebhookSender,
  type WebhookSenderOptions,
} from '../../../src/platform/outbound/webhook-sender.ts';
import { privateHosts } from './private-hosts.ts';
import { createFakeDns } from '../../support/servers/fake-dns.ts';
import { testCertificate } from '../../support/servers/tls-certificate.ts';

/** The connections and the requests that the server received. */
const counters = { connections: 0, posts: [] as string[] };
let body: string | undefined;
const servers: Server[] = [];
let secure: number;
let plain: number;

beforeAll(async () => {
  const take = (server: Server): Server => {
    server.on('connection', () => (counters.connections += 1));
    server.on('request', (request, response) => {
      request.resume().on('end', () => {
        counters.posts.push(request.url ?? '');
        response.writeHead(200).end(body);
      });
    });
    servers.push(server);
    return server.listen(0, '127.0.0.1');
  };
  const both = [take(createServer(testCertificate)), take(createPlain() as unknown as Server)];
  await Promise.all(both.map((server) => once(server, 'listening')));
  [secure = 0, plain = 0] = both.map((server) => (server.address() as AddressInfo).port);
});
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

const loopback = [{ address: '127.0.0.0', prefix: 8 }];
const createSender = (options: Partial<WebhookSenderOptions> = {}) =>
  createWebhookSender({
    networks: [],
    timeoutMs: 2_000,
    userAgent: 'test',
    ca: testCertificate.cert,
    ...options,
  });
const buildRequest = (url: string) => ({ url, headers: { 'webhook-id': 'evt_1' }, body: '{}' });
const noResponse = {
  status: null,
  error: 'the host name is unknown, or its address is not allowed',
  failure: 'connection_refused',
};

describe('private addresses', () => {
  test.each(privateHosts)('%s is never called', async (host) => {
    const before = counters.connections;
    for (const sender of [
      createSender(),
      createSender({ networks: [{ address: '10.9.0.0', prefix: 16 }] }),
    ]) {
      for (const address of [`https://${host}:${secure}/`, `http://${host}:${plain}/`]) {
        expect(await sender.send(buildRequest(address))).toMatchObject(noResponse);
      }
    }
    expect(counters.connections).toBe(before);
  });

  test('no name resolves to one, whatever it resolves to later', async () => {
    const before = counters.connections;
    for (const addresses of [['127.0.0.1'], ['::ffff:127.0.0.1', '10.0.0.1'], []]) {
      const { lookup } = createFakeDns(addresses);
      expect(
        await createSender({ lookup }).send(buildRequest(`https://receiver.test:${secure}/`)),
      ).toMatchObject(noResponse);
    }
    expect(counters.connections).toBe(before);
  });

  test('the checked address is the one that is connected to', async () => {
    // Only the first lookup returns an allowed address. There must be no second lookup.
    const { lookup, names } = createFakeDns(['127.0.0.1'], ['10.0.0.1']);
    const sender = createSender({ networks: loopback, lookup });
    expect(await sender.send(buildRequest(`https://localhost:${secure}/pinned`))).toMatchObject({
      status: 200,
      error: null,
    });
    expect([names, counters.posts.at(-1)]).toEqual([['localhost'], '/pinned']);
    sender.close();
  });

  test('an unknown name and a name of a private address give the same error', async () => {
    const { lookup } = createFakeDns();
    expect(await createSender({ lookup }).send(buildRequest('https://absent.test/'))).toMatchObject(
      noResponse,
    );
  });
});

describe('addresses that settings allow', () => {
  test('are called over https and http, and no others are', async () => {
    const sender = createSender({ networks: loopback });
    for (const address of [
      `https://127.0.0.1:${secure}/`,
      `http://127.0.0.1:${plain}/`,
      `http://localhost:${plain}/`,
    ])
      expect((await sender.send(buildRequest(address))).status, address).toBe(200);
    for (const address of ['http://8.8.8.8/', 'http://10.0.0.1/', 'https://10.0.0.1/', 'ftp://127.0.0.1/'])
      expect(await sender.send(buildRequest(address)), address).toMatchObject(noResponse);
    sender.close();
  });

  test('need a trusted certificate', async () => {
    const { ca: _, ...distrust } = { ca: '', networks: loopback, timeoutMs: 2_000, userAgent: 'test' };
    const sender = createWebhookSender(distrust);
    const posted = await sender.send(buildRequest(`https://127.0.0.1:${secure}/`));
    expect(posted).toMatchObject({
      status: null,
      error: 'TLS failed: the certificate is self-signed',
      failure: 'tls_error',
    });
  });

  test('reuse a connection, unless the response is long', async () => {
    const sender = createSender({ networks: loopback });
    const post = () => sender.send(buildRequest(`https://127.0.0.1:${secure}/`));
    const before = counters.connections;
    body = 'x'.repeat(1_000);
    for (const _ of [1, 2, 3]) expect((await post()).status).toBe(200);
    expect(counters.connections - before).toBe(1);
    body = 'x'.repeat(100_000);
    for (const _ of [1, 2]) expect((await post()).status).toBe(200);
    body = undefined;
    await expect.poll(async () => ((await post()).status, counters.connections - before)).toBeGreaterThan(1);
    sender.close();
  });

  test('receive only the given headers and body', async () => {
    const sender = createSender({ networks: loopback });
    const [request] = await Promise.all([
      once(servers[1] as Server, 'request').then(([each]) => each),
      sender.send(buildRequest(`http://127.0.0.1:${plain}/`)),
    ]);
    expect(request.headers).toEqual({
      'user-agent': 'test',
      'content-type': 'application/json',
      'content-length': '2',
      'webhook-id': 'evt_1',
      host: `127.0.0.1:${plain}`,
      connection: 'keep-alive',
    });
    sender.close();
  });

  test('without a server result in a connection error', async () => {
    const sender = createSender({ networks: loopback });
    expect(await sender.send(buildRequest('https://127.0.0.1:1/'))).toMatchObject({
      status: null,
      error: 'the connection was refused: nothing listens on this port',
      failure: 'connection_refused',
    });
  });

  test('that do not speak TLS are named so', async () => {
    const sender = createSender({ networks: loopback });
    expect(await sender.send(buildRequest(`https://127.0.0.1:${plain}/`))).toMatchObject({
      error: 'TLS failed: the certificate is not trusted, or the server does not speak TLS',
      failure: 'tls_error',
    });
    sender.close();
  });
});

test('a connection that fails after the status causes no second request', async () => {
  const received: number[] = [];
  let broken = false;
  let connections = 0;
  const receiver = createSocketServer((socket) => {
    const connection = (connections += 1);
    let requests = 0;
    socket.on('error', () => undefined);
    socket.on('close', () => (broken ||= requests === 2));
    socket.on('data', () => {
      received.push(connection);
      requests += 1;
      if (connection > 1) socket.resetAndDestroy();
      else if (requests === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n');
      if (requests === 2) setImmediate(() => setImmediate(() => socket.resetAndDestroy()));
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  const sender = createSender({ networks: loopback });
  const post = () => sender.send(buildRequest(`http://127.0.0.1:${port}/`));
  try {
    expect(await post()).toMatchObject({ status: 200, error: null });
    await vi.waitFor(() => expect(received).toEqual([1]), { timeout: 20_000 });
    expect(await post()).toMatchObject({ status: 200, error: null });
    await vi.waitFor(() => expect(broken).toBe(true), { timeout: 20_000 });
    // A repeated request would arrive before this one.
    expect(
      await createSender({ networks: loopback }).send(buildRequest(`http://127.0.0.1:${plain}/`)),
    ).toMatchObject({
      status: 200,
    });
    expect(received).toEqual([1, 1]);
  } finally {
    sender.close();
    receiver.close();
  }
});
