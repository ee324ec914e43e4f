import { request } from 'node:http';
import { beforeAll, expect, test } from 'vitest';
import { postRawMessage, sendRawRequest, readRpcResult } from '../../clients/mcp/client.ts';
import { useMcpInstance } from './instance.ts';

const instance = useMcpInstance();
let token: string;
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const json = { 'Content-Type': 'application/json' };

beforeAll(async () => {
  token = await instance.token('refused.agent');
});

const metadata = 'resource_metadata="http://localhost:3000/.well-known/oauth-protected-resource/mcp"';
const all = 'scope="contacts:read contacts:write threads:read threads:write"';

test('without a token: 401, and where to get one', async () => {
  const answer = await sendRawRequest(instance.url, { headers: json, body: JSON.stringify(list) });
  expect(answer.status).toBe(401);
  expect(answer.headers.get('www-authenticate')).toBe(`Bearer ${metadata}, ${all}`);
  expect(answer.json).toMatchObject({
    error: { code: 'UNAUTHORIZED', request_id: answer.headers.get('x-request-id') },
  });
  for (const method of ['GET', 'DELETE'])
    expect((await sendRawRequest(instance.url, { method })).status).toBe(401);
});

test.each(['api', 'ws'] as const)('a token for the audience %s: 401 invalid_token', async (audience) => {
  const answer = await postRawMessage(
    instance.url,
    await instance.token('refused.agent', { audience }),
    list,
  );
  expect(answer.status).toBe(401);
  expect(answer.headers.get('www-authenticate')).toBe(`Bearer error="invalid_token", ${metadata}, ${all}`);
});

test('a call without its scope: 403 before anything of the batch runs', async () => {
  const reader = await instance.token('refused.agent', { scopes: ['threads:read'] });
  const create = { name: 'create_thread', arguments: { with_handle: 'refused.other' } };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: create };
  for (const message of [call, [{ ...list, id: 2 }, call]]) {
    const answer = await postRawMessage(instance.url, reader, message);
    expect(answer.status).toBe(403);
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer error="insufficient_scope", scope="threads:write", ${metadata}`,
    );
    expect(answer.json).toMatchObject({ error: { code: 'INSUFFICIENT_SCOPE' } });
  }
  const blind = await instance.token('refused.agent', { scopes: ['contacts:read'] });
  const read = { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'service://threads' } };
  expect((await postRawMessage(instance.url, blind, read)).status).toBe(403);
  expect((await postRawMessage(instance.url, blind, list)).status).toBe(200);
});

test.each([
  ['not JSON', '{"jsonrpc":', 400, -32_700],
  ['no body', '', 400, -32_700],
  ['not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 400, -32_700],
  ['not JSON-RPC', '{"hello":1}', 400, -32_600],
  ['null', 'null', 400, -32_600],
  ['a number', '7', 400, -32_600],
  ['an empty batch', '[]', 400, -32_600],
])('a body that is %s', async (_, body, status, code) => {
  const headers = { ...json, Authorization: `Bearer ${token}` };
  const answer = await sendRawRequest(instance.url, { headers, body });
  expect(answer.status).toBe(status);
  expect(answer.json).toMatchObject({ jsonrpc: '2.0', id: null, error: { code } });
});

test('another media type: 415', async () => {
  const headers = { 'Content-Type': 'text/plain', Authorization: `Bearer ${token}` };
  const answer = await sendRawRequest(instance.url, { headers, body: JSON.stringify(list) });
  expect([answer.status, readRpcResult(answer).error?.code]).toEqual([415, -32_000]);
});

test('more than 4 MiB: 413, with and without a declared length', async () => {
  const body = JSON.stringify({ ...list, params: { filler: 'x'.repeat(4 * 1024 * 1024) } });
  const headers = { ...json, Authorization: `Bearer ${token}` };
  const answer = await sendRawRequest(instance.url, { headers, body });
  expect([answer.status, readRpcResult(answer).error?.code]).toEqual([413, -32_000]);
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const chunked = request(`${instance.url}/mcp`, { method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    chunked.on('error', reject);
    chunked.end(body);
    chunked.flushHeaders();
  });
  expect(status).toBe(413);
});

test.each(['PUT', 'PATCH', 'OPTIONS'])('%s: 405 with Allow', async (method) => {
  const answer = await sendRawRequest(instance.url, { method });
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE']);
});

test.each([
  [{ Origin: 'https://evil.test' }, 403],
  [{ Origin: 'null' }, 403],
  [{ Origin: 'http://localhost:6274' }, 200],
  [{ Origin: 'https://mcp.example.test' }, 200],
])('Origin %o: %i', async (headers, status) => {
  expect((await postRawMessage(instance.url, token, list, headers)).status).toBe(status);
});

test.each([
  ['evil.test', 403],
  ['localhost.evil.test', 403],
  ['localhost:3000', 200],
  ['mcp.example.test:8443', 200],
])('Host %s: %i', async (host, expected) => {
  const [status, text] = await new Promise<[number | undefined, string]>((resolve, reject) => {
    const headers = { ...json, host, Authorization: `Bearer ${token}` };
    const sent = request(`${instance.url}/mcp`, { method: 'POST', headers }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (part: string) => (body += part));
      response.on('end', () => resolve([response.statusCode, body]));
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(list));
  });
  expect(status).toBe(expected);
  if (expected === 403) expect(text).toMatch(/Use https?:\/\/[^ ]+\/mcp, or add this host to ALLOWED_HOSTS/);
});

test('very many values: 400 before they are parsed; a long text has any number of commas', async () => {
  const call = (args: object) =>
    postRawMessage(instance.url, token, {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'whoami', arguments: args },
    });
  const many = await call({ list: Array(20_000).fill(0) });
  expect([many.status, readRpcResult(many).error]).toMatchObject([
    400,
    { code: -32_600, message: expect.stringContaining('too many values') },
  ]);
  expect((await call({ text: ',"'.repeat(100_000) })).status).toBe(200);
});

test('nothing of this was a fault of ours', () => {
  expect(instance.loggedErrors).toEqual([]);
});

test('a page of an allowed origin can connect: preflight, exposed headers, and the challenge of a refusal', async () => {
  const origin = 'http://localhost:5173';
  const preflight = await sendRawRequest(instance.url, {
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'authorization, mcp-session-id',
    },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-methods')).toContain('POST');
  expect(preflight.headers.get('access-control-allow-headers')).toContain('mcp-session-id');
  const refused = await sendRawRequest(instance.url, { headers: { ...json, Origin: origin }, body: '{}' });
  expect(refused.status).toBe(401);
  for (const { headers } of [preflight, refused]) {
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    expect(headers.get('access-control-expose-headers')).toBe(
      'MCP-Protocol-Version, Mcp-Session-Id, Retry-After, WWW-Authenticate',
    );
  }
  const foreign = { ...json, Origin: 'https://elsewhere.example' };
  const stranger = await sendRawRequest(instance.url, { headers: foreign, body: '{}' });
  expect([stranger.status, stranger.headers.get('access-control-allow-origin')]).toEqual([403, null]);
});

test('the media type may be in any case, and the path may end with a slash', async () => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const answer = await fetch(`${instance.url}/mcp/`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'Application/JSON; charset=utf-8' },
    body,
  });
  expect(answer.status).toBe(200);
});

test('an unsupported revision is refused with the id of the request and the supported ones', async () => {
  const message = { jsonrpc: '2.0', id: 'seven', method: 'tools/list' };
  const answer = await postRawMessage(instance.url, token, message, { 'mcp-protocol-version': '1999-01-01' });
  expect([answer.status, answer.json]).toMatchObject([
    400,
    {
      id: 'seven',
      error: { data: { requested: '1999-01-01', supported: expect.arrayContaining(['2025-11-25']) } },
    },
  ]);
});
