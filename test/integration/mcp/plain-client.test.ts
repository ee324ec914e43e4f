import { beforeAll, expect, test } from 'vitest';
import { callToolRaw, postRawMessage, readRpcResult } from '../../clients/mcp/client.ts';
import { useMcpInstance } from './instance.ts';

const instance = useMcpInstance();
let token: string;

beforeAll(async () => {
  token = await instance.token('plain.client');
});

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'plain', version: '1' } },
};

test('a client of 2024-11-05 without Accept, initialized or session header gets plain JSON', async () => {
  const answer = await postRawMessage(instance.url, token, initialize);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toContain('application/json');
  expect(readRpcResult(answer).result).toMatchObject({
    protocolVersion: '2024-11-05',
    serverInfo: { version: instance.version },
  });
  const { value, structured } = await callToolRaw(instance.url, token, 'whoami');
  expect(value).toMatchObject({ canonical_handle: 'plain.client' });
  expect(structured).toEqual(value);
});

test.each(['application/json', '*/*', 'application/json, text/event-stream'])(
  'Accept: %s gets plain JSON',
  async (accept) => {
    const answer = await postRawMessage(
      instance.url,
      token,
      { jsonrpc: '2.0', id: 'x', method: 'ping' },
      { accept },
    );
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ jsonrpc: '2.0', id: 'x', result: {} });
  },
);

test('a client that takes nothing but an event stream gets one', async () => {
  const accept = 'text/event-stream';
  const answer = await postRawMessage(
    instance.url,
    token,
    { jsonrpc: '2.0', id: 'x', method: 'ping' },
    { accept },
  );
  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  expect(answer.text).toBe(':\nevent: message\ndata: {"result":{},"jsonrpc":"2.0","id":"x"}\n\n');
});

test('a client that takes neither is told so', async () => {
  const answer = await postRawMessage(instance.url, token, initialize, { accept: 'text/html' });
  expect(answer.status).toBe(406);
  expect(readRpcResult(answer).error?.code).toBe(-32_000);
});

test('an unknown revision is answered with the newest one that has sessions, an unknown header with 400', async () => {
  const message = { ...initialize, params: { ...initialize.params, protocolVersion: '2099-01-01' } };
  expect(readRpcResult(await postRawMessage(instance.url, token, message)).result).toMatchObject({
    protocolVersion: '2025-11-25',
  });
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const answer = await postRawMessage(instance.url, token, list, { 'mcp-protocol-version': '2025-12-31' });
  expect(answer.status).toBe(400);
  expect(readRpcResult(answer).error?.message).toContain('Unsupported protocol version: 2025-12-31');
});

test('a method that does not exist and arguments of a wrong kind are JSON-RPC errors', async () => {
  const unknown = readRpcResult(
    await postRawMessage(instance.url, token, { jsonrpc: '2.0', id: 1, method: 'tools/destroy' }),
  );
  expect(unknown.error?.code).toBe(-32_601);
  const noTool = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'rm' } };
  expect(readRpcResult(await postRawMessage(instance.url, token, noTool)).error).toMatchObject({
    code: -32_602,
  });
  const read = { jsonrpc: '2.0', id: 1, method: 'resources/read' };
  expect(readRpcResult(await postRawMessage(instance.url, token, read)).error).toMatchObject({
    code: -32_602,
  });
  const wrong = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: [] } };
  expect(readRpcResult(await postRawMessage(instance.url, token, wrong)).error).toMatchObject({
    code: -32_602,
    message: expect.stringContaining('arguments'),
  });
  expect(instance.loggedErrors).toEqual([]);
});
