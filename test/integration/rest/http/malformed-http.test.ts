import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { outcomeOf, requestRest } from '../../../clients/rest.ts';
import { useSharedService } from '../../../support/service.ts';

const service = useSharedService();

/** Writes bytes on a new connection and returns the response when the server closes it. */
function exchange(bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1', () => socket.write(bytes));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    socket.on('error', () => resolve(answer));
    socket.on('close', () => resolve(answer));
  });
}

const last = 'Connection: close\r\n\r\n';

const upgrade = 'Upgrade: websocket\r\nConnection: upgrade\r\n\r\n';
const post = 'POST /v1/threads HTTP/1.1\r\nHost: x\r\n';

test.each<[string, string, number?, string?]>([
  ['bytes that are no HTTP', 'nonsense\r\n\r\n'],
  ['an unknown method', `BREW /v1/threads HTTP/1.1\r\nHost: x\r\n${last}`],
  ['two lengths', `${post}Content-Length: 1\r\nContent-Length: 2\r\n${last}`],
  ['an unknown coding', `${post}Transfer-Encoding: gzip\r\n${last}`],
  [
    'headers without end',
    `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n${last}`,
    413,
    'PAYLOAD_TOO_LARGE',
  ],
  ['no host', `GET /livez HTTP/1.1\r\n${last}`],
  ['an empty host', `GET /livez HTTP/1.1\r\nHost:\r\n${last}`],
  ['a second host', `GET /v1/agents/me HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n${last}`],
  ['a second host of a WebSocket', `GET /ws HTTP/1.1\r\nHost: x\r\nhost: x\r\n${upgrade}`],
  ['an invalid host of a WebSocket', `GET /ws HTTP/1.1\r\nHost: a b\r\n${upgrade}`],
  [
    'an invalid host of another upgrade',
    `GET /livez HTTP/1.1\r\nHost: <x>\r\nUpgrade: h2c\r\nConnection: upgrade, close\r\n\r\n`,
  ],
  ['an absolute target with an invalid host', `GET http://user@x/livez HTTP/1.1\r\nHost: x\r\n${last}`],
  ['a tunnel', `CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n`, 405, 'METHOD_NOT_ALLOWED'],
])('%s gets the standard error body', async (_, bytes, status = 400, code = 'VALIDATION_ERROR') => {
  const answer = await exchange(bytes);
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).toContain(`HTTP/1.1 ${status} `);
  expect(head).toMatch(/^X-Request-Id: ./im);
  expect(JSON.parse(body)).toMatchObject({ error: { code, request_id: expect.any(String) } });
});

test('an invalid host is refused before any route, and every valid one is served', async () => {
  const invalid = [
    'a b',
    'a b"c',
    'localhost:abc',
    'localhost:99999',
    '[::1',
    '<x>',
    '%zz',
    '[',
    'a/b',
    'a@b',
    'a,b c',
  ];
  const paths = [
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-authorization-server/mcp',
    '/.well-known/jwks.json',
    '/mcp',
    '/v1/agents/me',
    '/console',
    '/livez',
  ];
  for (const host of invalid) {
    for (const path of paths) {
      const answer = await exchange(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${last}`);
      expect(`${host} ${path} ${answer.slice(0, 12)}`).toBe(`${host} ${path} HTTP/1.1 400`);
      expect(answer).toContain('VALIDATION_ERROR');
    }
  }
  for (const host of [
    'localhost',
    'LOCALHOST:3000',
    'my_service:80',
    '127.0.0.1:1',
    '[::1]:80',
    'a.example.',
    'x:',
  ]) {
    const answer = await exchange(
      `GET /.well-known/oauth-authorization-server HTTP/1.1\r\nHost: ${host}\r\n${last}`,
    );
    expect(`${host} ${answer.slice(0, 12)}`).toBe(`${host} HTTP/1.1 200`);
  }
});

test('an absolute target is served by its path, also after a sign-in', async () => {
  const page = await exchange(`GET http://evil.example/console?a=b HTTP/1.1\r\nHost: localhost\r\n${last}`);
  expect(page).toMatch(/^HTTP\/1\.1 303 /);
  expect(page).toMatch(/^Location: \/sign-in\?to=%2Fconsole%3Fa%3Db\r$/im);
  const health = await exchange(`GET HTTP://localhost/livez?x HTTP/1.1\r\nHost: localhost\r\n${last}`);
  expect(health).toMatch(/^HTTP\/1\.1 200 /);
  const guarded = await exchange(`GET http://evil.example/mcp HTTP/1.1\r\nHost: localhost\r\n${last}`);
  expect(guarded).toMatch(/^HTTP\/1\.1 403 /);
});

test('an unknown expectation is ignored, and paths are case-sensitive', async () => {
  const expecting = await exchange(`GET /livez HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n${last}`);
  expect(expecting).toContain('HTTP/1.1 200 OK');
  const shouted = await requestRest('GET', `${service.url}/V1/threads`);
  expect(outcomeOf(shouted)).toBe('404 NOT_FOUND');
});

test('a connection that reads no responses is closed, and others are served', async () => {
  const flood = exchange('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(5_000));
  const { token } = await service.agent();
  expect((await service.get({ token }, '/agents/me')).status).toBe(200);
  const answers = (await flood).match(/HTTP\/1\.1 /g) ?? [];
  expect(answers.length).toBeLessThan(5_000);
});

test('a body of DELETE is read like any other', async () => {
  const { token } = await service.agent();
  const url = `${service.api}/blocks/acme.absent`;
  const answers = await Promise.all([
    requestRest('DELETE', url, { token, body: {} }),
    requestRest('DELETE', url, { token, body: { more: 1 } }),
    requestRest('DELETE', url, { token, raw: '{' }),
    requestRest('DELETE', url, { token, raw: ' '.repeat(300_000) }),
  ]);
  expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual([
    [404, 'NOT_FOUND'],
    [400, 'VALIDATION_ERROR'],
    [400, 'INVALID_JSON'],
    [413, 'PAYLOAD_TOO_LARGE'],
  ]);
});
