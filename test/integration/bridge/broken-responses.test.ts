import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runBridge } from '../../../src/bridge/run.ts';
import { initializeRequest } from '../../clients/mcp/bridge.ts';

vi.setConfig({ testTimeout: 60_000 });

interface RpcCall {
  id?: unknown;
  method?: string;
  params?: { name?: string };
}
type Answer = (response: ServerResponse, rpcCall: RpcCall, count: number) => void;

const json = (response: ServerResponse, body: object, status = 200) =>
  void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
const result = (response: ServerResponse, { id }: RpcCall, value: object) =>
  json(response, { jsonrpc: '2.0', id, result: value });
const streamed = (response: ServerResponse, ...messages: object[]) => {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (const message of messages) response.write(`data: ${JSON.stringify(message)}\n\n`);
  return response;
};

const tools = [
  { name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
  { name: 'change', inputSchema: { type: 'object' }, annotations: { idempotentHint: true } },
];

const initializeResult = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  serverInfo: { name: 'fake', version: '1' },
};

/** The bridge in this process, connected to a service whose responses to tool calls the test defines. */
async function startBridge(answer: Answer, timeout_seconds = 20) {
  const calls: RpcCall[] = [];
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const rpcCall = JSON.parse(await text(request)) as RpcCall;
    if (rpcCall.method === 'tools/call') {
      calls.push(rpcCall);
      answer(response, rpcCall, calls.length);
    } else if (rpcCall.method === 'tools/list') result(response, rpcCall, { tools });
    else if (rpcCall.id === undefined) response.writeHead(202).end();
    else result(response, rpcCall, initializeResult);
  }
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const [input, output] = [new PassThrough(), new PassThrough()];
  const lines = createInterface(output)[Symbol.asyncIterator]();
  const ended = runBridge(
    { address: new URL(`http://127.0.0.1:${port}/mcp`), profile: 'p', opens_browser: false, timeout_seconds },
    { env: { AMS_TOKEN: 't' }, input, output, log: () => {}, interrupted: new AbortController().signal },
  );
  onTestFinished(async () => {
    input.end();
    await ended;
    server.closeAllConnections();
    server.close();
  });
  const write = (message: object) => void input.write(`${JSON.stringify(message)}\n`);
  const next = async () => JSONRPCMessageSchema.parse(JSON.parse(String((await lines.next()).value)));
  write(initializeRequest);
  await next();
  write({ jsonrpc: '2.0', id: 'list', method: 'tools/list' });
  await next();
  const call = (id: number, name: string, given: object = {}) =>
    write({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: given } });
  return { write, next, call, calls };
}

const question = { jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: { message: 'May it?' } };
const unknown = { error: { code: -32_000, message: expect.stringContaining('may have taken effect') } };

test.each<[string, Answer]>([
  ['is cut', (response) => streamed(response, question).write(': x\n\n', () => response.destroy())],
  ['ends early', (response) => void streamed(response, question).end()],
  [
    'ends within a line',
    (response) => void streamed(response, question).end('data: {"jsonrpc":"2.0","id":1,'),
  ],
])(
  'a stream that %s: the call fails with an error that says what is unknown, and the request is cancelled',
  async (_, answer) => {
    const { next, call, calls } = await startBridge(answer);
    call(1, 'change');
    expect(await next()).toEqual(question);
    expect(await next()).toMatchObject({ id: 1, ...unknown });
    expect(await next()).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 'q' } });
    expect(calls).toHaveLength(1);
  },
);

test('a call that only reads or has a key is repeated; any other is not', async () => {
  const { next, call, calls } = await startBridge((response, rpcCall, count) => {
    if (count === 1) response.destroy();
    else if (count === 2) json(response, {}, 503);
    else if (count === 3) streamed(response).end();
    else result(response, rpcCall, { content: [] });
  });
  call(1, 'look');
  expect(await next()).toMatchObject({ id: 1, result: {} });
  expect(calls).toHaveLength(4);
  calls.length = 0;
  call(2, 'change', { idempotency_key: 'k' });
  expect(await next()).toMatchObject({ id: 2, result: {} });
  expect(calls).toHaveLength(4);
  calls.length = 0;
  call(3, 'change');
  expect(await next()).toMatchObject({ id: 3, ...unknown });
  expect(calls).toHaveLength(1);
});

test.each<[string, Answer, string]>([
  ['no JSON', (response) => void response.setHeader('Content-Type', 'application/json').end('{'), 'not MCP'],
  ['a page', (response) => void response.setHeader('Content-Type', 'text/html').end('<p>'), 'content type'],
  ['nothing', (response) => void response.writeHead(202).end(), 'returned 202'],
  [
    'another place',
    (response) => void response.writeHead(302, { Location: 'http://x.test/' }).end(),
    'edirect',
  ],
  ['a refusal in JSON-RPC', (response) => json(response, { error: { code: -5, message: 'no' } }, 400), 'no'],
  [
    'an error as over REST',
    (response) => json(response, { error: { code: 'X', message: 'not you' } }, 403),
    'not you',
  ],
])('a service that answers with %s is told as an error', async (_, answer, words) => {
  const { next, call } = await startBridge(answer, 0);
  call(1, 'change');
  expect(await next()).toMatchObject({ id: 1, error: { message: expect.stringContaining(words) } });
});
