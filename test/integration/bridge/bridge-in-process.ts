import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { onTestFinished } from 'vitest';
import { runBridge } from '../../../packages/client/src/bridge/run.ts';
import { initializeRequest } from '../../clients/mcp/bridge.ts';
import { listen } from '../../support/servers/listen.ts';

export interface RpcCall {
  id?: unknown;
  method?: string;
  params?: { name?: string };
}
export type Answer = (response: ServerResponse, rpcCall: RpcCall, count: number) => void;

export const json = (response: ServerResponse, body: object, status = 200) =>
  void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
export const result = (response: ServerResponse, { id }: RpcCall, value: object) =>
  json(response, { jsonrpc: '2.0', id, result: value });
export const streamed = (response: ServerResponse, ...messages: object[]) => {
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
export async function startBridge(answer: Answer, { timeout_seconds = 20, output = new PassThrough() } = {}) {
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
  const { url, close } = await listen(server);
  const input = new PassThrough();
  const lines = createInterface(output)[Symbol.asyncIterator]();
  const ended = runBridge(
    { address: new URL(`${url}/mcp`), profile: 'p', opens_browser: false, timeout_seconds },
    { env: { AMS_TOKEN: 't' }, input, output, log: () => {}, interrupted: new AbortController().signal },
  );
  onTestFinished(async () => {
    input.end();
    await ended;
    await close();
  });
  const write = (message: object) => void input.write(`${JSON.stringify(message)}\n`);
  const next = async () => JSONRPCMessageSchema.parse(JSON.parse(String((await lines.next()).value)));
  write(initializeRequest);
  await next();
  write({ jsonrpc: '2.0', id: 'list', method: 'tools/list' });
  await next();
  const call = (id: number, name: string, given: object = {}) =>
    write({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: given } });
  return { write, next, call, calls, input, ended };
}
