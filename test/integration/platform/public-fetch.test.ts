import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { describe, expect, test } from 'vitest';
import { AddressBlocked } from '../../../src/platform/outbound/policy.ts';
import { createPublicFetch } from '../../../src/platform/outbound/guarded-fetch.ts';
import { testCertificate } from '../../support/servers/tls-certificate.ts';
import { listen } from '../../support/servers/listen.ts';
import { use } from '../../support/use.ts';
import { privateHosts } from './private-hosts.ts';

const calls: string[] = [];
let answer: RequestListener;
const server = createServer(testCertificate, (request: IncomingMessage, response: ServerResponse) => {
  calls.push(request.url ?? '');
  answer(request, response);
});
const place = use(() => listen(server));

const loopback = [{ address: '127.0.0.0', prefix: 8 }];
/** Configured as in production. */
const guarded = createPublicFetch({ timeoutMs: 2_000, maxBytes: 1_000, ca: testCertificate.cert });
/** The same, but the address of the test's server counts as public. */
const trusting = (options: { timeoutMs?: number; maxBytes?: number } = {}) =>
  createPublicFetch({
    timeoutMs: 2_000,
    maxBytes: 1_000,
    ...options,
    networks: loopback,
    ca: testCertificate.cert,
  });

test.each(privateHosts)('the private address %s is not read or connected to', async (host) => {
  const before = calls.length;
  await expect(guarded(`https://${host}:${place.port}/`)).rejects.toThrow(AddressBlocked);
  expect(calls).toHaveLength(before);
});

describe('a fetched document', () => {
  test('is read by GET, with the given headers and none that identify the service', async () => {
    let seen: IncomingMessage['headers'] = {};
    answer = (request, response) => {
      seen = request.headers;
      response.setHeader('Cache-Control', 'max-age=60').end('{"a":1}');
    };
    const read = await trusting()(`https://127.0.0.1:${place.port}/document?x=1`, {
      headers: { accept: 'application/json' },
    });
    expect([read.status, read.headers.get('cache-control'), await read.json()]).toEqual([
      200,
      'max-age=60',
      { a: 1 },
    ]);
    expect(seen).toEqual({
      accept: 'application/json',
      host: `127.0.0.1:${place.port}`,
      connection: 'close',
    });
    expect(calls.at(-1)).toBe('/document?x=1');
  });

  test('is returned as it is, even when it is a redirect', async () => {
    answer = (_request, response) => {
      response.writeHead(302, { Location: `https://127.0.0.1:${place.port}/elsewhere` }).end();
    };
    const before = calls.length;
    const read = await trusting()(`https://127.0.0.1:${place.port}/`);
    expect([read.status, calls.length - before]).toEqual([302, 1]);
  });

  test('is limited in size, whatever its declared length', async () => {
    answer = (_request, response) => void response.end('x'.repeat(1_000));
    expect((await (await trusting()(`https://127.0.0.1:${place.port}/`)).text()).length).toBe(1_000);
    answer = (_request, response) => void response.end('x'.repeat(1_001));
    await expect(trusting()(`https://127.0.0.1:${place.port}/`)).rejects.toThrow(/more than 1000 bytes/);
    answer = (_request, response) => {
      const endless = setInterval(() => response.write('x'.repeat(100)), 1);
      response.once('close', () => clearInterval(endless));
    };
    await expect(trusting()(`https://127.0.0.1:${place.port}/`)).rejects.toThrow(/more than 1000 bytes/);
  });

  test('must arrive completely within the timeout', async () => {
    answer = (_request, response) => {
      response.write('x');
      const slow = setInterval(() => response.write('x'), 20);
      response.once('close', () => clearInterval(slow));
    };
    const withShortTimeout = trusting({ timeoutMs: 150, maxBytes: 1_000_000 });
    await expect(withShortTimeout(`https://127.0.0.1:${place.port}/`)).rejects.toThrow(/timeout|aborted/i);
    answer = () => undefined;
    await expect(withShortTimeout(`https://127.0.0.1:${place.port}/`)).rejects.toThrow(/timeout|aborted/i);
  });

  test('is cancelled when the caller aborts', async () => {
    const caller = new AbortController();
    answer = () => caller.abort();
    await expect(trusting()(`https://127.0.0.1:${place.port}/`, { signal: caller.signal })).rejects.toThrow(
      /abort/i,
    );
  });

  test('requires https and a valid certificate', async () => {
    await expect(guarded('http://app.example/')).rejects.toThrow(/Only https/);
    await expect(guarded('file:///etc/passwd')).rejects.toThrow(/Only https/);
    const distrusting = createPublicFetch({
      timeoutMs: 2_000,
      maxBytes: 1_000,
      networks: loopback,
    });
    await expect(distrusting(`https://127.0.0.1:${place.port}/`)).rejects.toThrow(/self-signed/);
  });
});
