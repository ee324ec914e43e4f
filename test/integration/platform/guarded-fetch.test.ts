import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { lookup } from 'node:dns';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createGuardedClient, RequestFailed } from '../../../src/platform/outbound/guarded-fetch.ts';
import { AddressBlocked } from '../../../src/platform/outbound/policy.ts';
import { listen } from '../../support/servers/listen.ts';
import { use } from '../../support/use.ts';

let answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;
const sockets = new Set<Socket>();
const server = createServer((request, response) => void answer(request, response));
server.on('connection', (socket) => sockets.add(socket));
const place = use(() => listen(server));

const limits = { timeoutMs: 2_000, maxBytes: 1_000 };
const networks = [{ address: '127.0.0.0', prefix: 8 }];

const failureOf = (request: Promise<Response>): Promise<unknown> => request.catch((error: unknown) => error);

describe('a guarded request', () => {
  test('has a method, a text body and headers, and its response has all parts', async () => {
    answer = async (request, response) => {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
      const { 'content-length': length, 'user-agent': agent } = request.headers;
      response.writeHead(429, { 'retry-after': '7' });
      response.end(JSON.stringify([request.method, length, agent, body]));
    };
    const client = createGuardedClient({ networks, userAgent: 'tester' });
    const response = await client.createFetch(limits)(place.url, { method: 'POST', body: 'ä' });
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7']);
    expect(await response.json()).toEqual(['POST', '2', 'tester', 'ä']);
  });

  test('reuses its connection', async () => {
    answer = (_request, response) => void response.end('{}');
    const client = createGuardedClient({ networks, idleMs: 4_000 });
    const fetch = client.createFetch(limits);
    sockets.clear();
    for (let call = 0; call < 3; call += 1) expect((await fetch(place.url)).status).toBe(200);
    expect(sockets.size).toBe(1);
    client.close();
  });

  test('checks the addresses of a name at each connection', async () => {
    answer = (_request, response) => void response.end('{}');
    const addresses = ['127.0.0.1', '10.0.0.1'];
    const resolve = ((_name: string, _options: object, callback: (error: null, all: object[]) => void) =>
      callback(null, [{ address: addresses.shift(), family: 4 }])) as unknown as typeof lookup;
    const fetch = createGuardedClient({ networks, lookup: resolve }).createFetch(limits);
    const address = place.url.replace('127.0.0.1', 'agent.example');
    expect((await fetch(address)).status).toBe(200);
    expect(await failureOf(fetch(address))).toBeInstanceOf(AddressBlocked);
  });

  test('uses http within the given networks only', async () => {
    const local = createGuardedClient({ networks }).createFetch(limits);
    expect(await failureOf(local('http://8.8.8.8/'))).toBeInstanceOf(AddressBlocked);
    const open = createGuardedClient({}).createFetch(limits);
    expect(String(await failureOf(open('http://8.8.8.8/')))).toContain('Only https');
  });

  test('tells whether the other side may have received it', async () => {
    const fetch = createGuardedClient({ networks }).createFetch(limits);
    answer = (request) => void request.socket.destroy();
    const broken = await failureOf(fetch(place.url, { method: 'POST', body: 'x' }));
    expect(broken).toBeInstanceOf(RequestFailed);
    expect(broken).toMatchObject({ isSent: true, message: 'the connection broke off' });
    const refused = await failureOf(fetch('http://127.0.0.1:1/', { method: 'POST', body: 'x' }));
    expect(refused).toMatchObject({ isSent: false, message: expect.stringContaining('refused') });
  });
});
