import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { outcomeOf, requestRest, type RestResponse } from '../../../clients/rest.ts';
import { allTestScopes, startService, useSharedService } from '../../../support/service.ts';

const service = useSharedService();

function expectError(answer: RestResponse, outcome: string): void {
  expect(outcomeOf(answer)).toBe(outcome);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.body.error.request_id).toBe(answer.headers.get('x-request-id'));
  expect(Object.keys(answer.body)).toEqual(['error']);
}

test('a missing, unknown or expired token, a wrong scheme and a wrong audience are 401 with a challenge', async () => {
  const url = '/agents/me';
  const metadata = 'resource_metadata="http://localhost:3000/v1/.well-known/oauth-protected-resource"';
  const none = await service.get(null, url);
  expectError(none, '401 UNAUTHORIZED');
  expect(none.headers.get('www-authenticate')).toBe(`Bearer ${metadata}`);
  expectError(await service.get(null, url, { headers: { Authorization: 'Basic YTpi' } }), '401 UNAUTHORIZED');

  const { handle } = await service.agent();
  const expiring = await service.token(handle, { expires_in: 1 });
  const tokens = [
    'not-a-token',
    await service.token(handle, { audience: 'mcp' }),
    await service.token(handle, { audience: 'ws' }),
  ];
  for (const token of tokens) {
    const answer = await service.get({ token }, url);
    expectError(answer, '401 UNAUTHORIZED');
    expect(answer.headers.get('www-authenticate')).toBe(`Bearer error="invalid_token", ${metadata}`);
  }
  await expect.poll(async () => (await service.get({ token: expiring }, url)).status).toBe(401);
  expectError(await service.get({ token: expiring }, url), '401 UNAUTHORIZED');
});

test('bodies that are not JSON, not an object, not UTF-8, of another type, too large or truncated have distinct errors', async () => {
  const { token } = await service.agent();
  const send = (raw: string | Uint8Array<ArrayBuffer>, headers = {}) =>
    service.post({ token }, '/threads', undefined, { raw, headers });
  for (const raw of ['{', '{"a":1,}', 'nonsense', '"text"', '7', 'null', '{"__proto__":{"x":1}}'])
    expect(outcomeOf(await send(raw)), raw).toBe('400 INVALID_JSON');
  expect((await send('null')).body.error.message).toBe('The body is not a JSON object or list.');
  const wrongLimits = await service.get({ token }, '/threads?limit=1.5');
  expect(wrongLimits.body.error.message).toBe('limit: must be an integer');
  const hugeWait = await service.post({ token }, '/threads/ask', { wait_seconds: 1e300 });
  expect(hugeWait.body.error.message.match(/wait_seconds: /g)).toHaveLength(1);
  expect((await send(' ')).status).toBe(400);
  expectError(await send('[]'), '400 VALIDATION_ERROR');
  const latin = new Uint8Array([...Buffer.from('{"with_handle":"'), 0xe9, ...Buffer.from('"}')]);
  expectError(await send(latin), '400 INVALID_JSON');
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    '',
  ]) {
    expectError(await send('{}', { 'Content-Type': type }), '415 UNSUPPORTED_MEDIA_TYPE');
  }
  expectError(await send('{}', { 'Content-Encoding': 'gzip' }), '415 UNSUPPORTED_MEDIA_TYPE');
  expectError(await send(`{"subject":"${'x'.repeat(300 * 1024)}"}`), '413 PAYLOAD_TOO_LARGE');
  const deep = `${'{"a":'.repeat(30_000)}1${'}'.repeat(30_000)}`;
  expectError(await send(`{"content":"x","metadata":${deep}}`), '400 VALIDATION_ERROR');
});

test('an empty body is absent over REST, MCP and A2A, also if it is chunked', async () => {
  const { handle, token } = await service.agent();
  const mcp = await service.token(handle, { audience: 'mcp' });
  const a2a = `${service.url}/a2a/${handle.replace('.', '/')}`;
  const cases: [url: string, token: string, status: number, code: string | number][] = [
    [`${service.api}/tasks/tsk_none/cancel`, token, 404, 'TASK_NOT_FOUND'],
    [`${service.api}/blocks`, token, 400, 'VALIDATION_ERROR'],
    [`${service.url}/mcp`, mcp, 415, -32_000],
    [a2a, token, 200, -32_600],
    [`${a2a}/tasks/tsk_none:cancel`, token, 404, 404],
  ];
  for (const [url, bearer, status, code] of cases) {
    const headers = { Authorization: `Bearer ${bearer}`, 'A2A-Version': '1.0', 'Idempotency-Key': url };
    for (const framing of [{ 'Content-Length': '0' }, { 'Transfer-Encoding': 'chunked' }]) {
      const sent = request(url, { method: 'POST', headers: { ...headers, ...framing } }).end();
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      const { error } = (await json(answer)) as { error: { code: unknown } };
      expect([answer.statusCode, error.code], url).toEqual([status, code]);
    }
  }
});

test('field errors are sentences of the service, not of its validator', async () => {
  const { token } = await service.agent({ scopes: [...allTestScopes, 'agents:write', 'agents:read'] });
  const wrong = [
    null,
    7,
    -1,
    1.5,
    '',
    'x'.repeat(3_000),
    true,
    [],
    [7],
    {},
    { a: 1 },
    Array(300).fill('a.b'),
  ];
  const bodies: [string, string[]][] = [
    ['/threads', ['with_handle', 'participants', 'subject', 'initial_message', 'metadata', 'reason']],
    ['/agents', ['name', 'display_name', 'description', 'visibility', 'inbound_policy', 'skills', 'scope']],
    ['/contacts/requests', ['handle', 'message']],
    ['/blocks', ['handle', 'reason']],
  ];
  const texts = new Set<string>();
  for (const [path, fields] of bodies) {
    for (const field of fields) {
      for (const value of wrong) {
        const answer = await service.post({ token }, path, { [field]: value });
        if (answer.status === 400) texts.add(JSON.stringify(answer.body.error));
      }
    }
  }
  for (const limit of ['0', '1000', 'x', '1.5'])
    texts.add((await service.get({ token }, `/threads?limit=${limit}`)).text);
  expect(texts.size).toBeGreaterThan(50);
  const jargon =
    /Too (?:big|small)|Invalid (?:input|option|type|key|string)|[Ee]xpected|Unrecognized|\bzod\b/;
  expect([...texts].filter((text) => jargon.test(text))).toEqual([]);
});

test('a body of very many values is refused, whatever field has them', async () => {
  const { token } = await service.agent();
  const fields = Array.from({ length: 20_000 }, (_, index) => [`f${index}`, 0]);
  const lists = [Object.fromEntries(fields), { attachment_ids: Array(20_000).fill(0) }];
  for (const body of lists) {
    const answer = await service.post({ token }, '/threads/thd_x/messages', body);
    expectError(answer, '400 VALIDATION_ERROR');
    expect(answer.body.error.message).toBe('The body has too many values: at most 10000.');
  }
  const commas = { content: '","'.repeat(10_000) };
  const text = await service.post({ token }, '/threads/thd_x/messages', commas);
  expectError(text, '404 THREAD_NOT_FOUND');
});

test('unknown paths and methods get the same error body', async () => {
  const { token } = await service.agent();
  for (const path of ['/nothing', '/v1/nothing', '/v1/threads/a/b/c', '/%zz', '/v1/%00']) {
    expectError(await requestRest('GET', `${service.url}${path}`, { token }), '404 NOT_FOUND');
  }
  const strange = await requestRest('PROPFIND', `${service.api}/nothing`, { token });
  expectError(strange, '404 NOT_FOUND');
  expect(strange.headers.get('allow')).toBeNull();
  const method = await service.delete({ token }, '/threads');
  expectError(method, '405 METHOD_NOT_ALLOWED');
  expect(method.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'HEAD', 'POST']);
});

test('a valid request id is kept, otherwise a new one is generated', async () => {
  const { token } = await service.agent();
  const url = '/agents/me';
  const own = await service.get({ token }, url, { headers: { 'X-Request-Id': 'trace-0123456789' } });
  expect(own.headers.get('x-request-id')).toBe('trace-0123456789');
  const created = await service.get({ token }, url, {
    headers: { 'X-Request-Id': '<script>alert(1)</script>' },
  });
  expect(created.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
});

test('health reports the parts', async () => {
  expect((await requestRest('GET', `${service.url}/livez`)).body).toEqual({ status: 'ok' });
  expect((await requestRest('GET', `${service.url}/readyz`)).body).toEqual({
    status: 'ok',
    parts: { database: 'ok', schema: 'ok', queues: 'ok', bus: 'ok' },
  });
});

test('without Redis the service is degraded and continues', async () => {
  const alone = await startService({ worker: false, env: { REDIS_URL: 'redis://127.0.0.1:1' } });
  const [ann, bob] = await Promise.all([alone.agent(), alone.agent()]);
  const body = { with_handle: bob.handle, initial_message: 'still here' };
  expect((await alone.post(ann, '/threads', body)).status).toBe(201);
  const health = await requestRest('GET', `${alone.url}/readyz`);
  expect([health.status, health.body.status]).toEqual([200, 'degraded']);
  expect(health.body.parts.database).toBe('ok');
  expect(await alone.stop()).toBe(true);
});
