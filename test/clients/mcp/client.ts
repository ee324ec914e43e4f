import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Notification } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { checkToolResponse, checkToolResult } from './closed-results.ts';
import { checkReceived } from '../../support/asyncapi/check-received.ts';

const serviceNotification = z.looseObject({
  method: z.string().startsWith('notifications/service/'),
  params: z.looseObject({ _meta: z.looseObject({ event_id: z.string().optional(), cursor: z.string() }) }),
});

export type ServiceNotification = z.infer<typeof serviceNotification>;

export interface SdkClient {
  client: Client;
  transport: StreamableHTTPClientTransport;
  /**
   * Everything of this service that came over the stream so far.
   * @throws {Error} when one of them is not as the service's own AsyncAPI document describes it.
   */
  readonly notifications: ServiceNotification[];
  close(): Promise<void>;
}

/** The MCP SDK's own client, connected. `fetch` may be replaced, for example by one that goes round several servers. */
export async function connectSdkClient(
  url: string,
  token: string,
  {
    otherRelease = false,
    ...options
  }: Pick<StreamableHTTPClientTransportOptions, 'fetch' | 'reconnectionOptions'> & {
    /** The service is another release: notifications are not checked against this one's AsyncAPI document. */
    otherRelease?: boolean;
  } = {},
): Promise<SdkClient> {
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit, ...options });
  const client = new Client({ name: 'test', version: '1' });
  const notifications: ServiceNotification[] = [];
  // The SDK keeps what its handlers throw to itself.
  const wrong: unknown[] = [];
  client.fallbackNotificationHandler = async (notification: Notification) => {
    try {
      if (!otherRelease) checkReceived('mcp_notifications', { jsonrpc: '2.0', ...notification });
      notifications.push(serviceNotification.parse(notification));
    } catch (error) {
      wrong.push(error);
    }
  };
  function received(): ServiceNotification[] {
    if (wrong.length > 0) throw wrong[0];
    return notifications;
  }
  await client.connect(transport);
  const callTool = client.callTool.bind(client);
  client.callTool = async (...args) => {
    const result = await callTool(...args);
    if (!otherRelease && result.structuredContent !== undefined)
      checkToolResult(args[0].name, result.structuredContent);
    return result;
  };
  return {
    client,
    transport,
    get notifications() {
      return received();
    },
    async close() {
      await client.close();
      received();
    },
  };
}

const textContent = z.looseObject({ type: z.literal('text'), text: z.string() });
const toolResult = z.looseObject({
  content: z.array(textContent).min(1),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().optional(),
});
const rpcAnswer = z.looseObject({
  id: z.union([z.string(), z.number(), z.null()]),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.looseObject({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
});

export interface RawResponse {
  status: number;
  headers: Headers;
  text: string;
  /** The JSON of the body, when it is any; of a stream, that of the last event. */
  json: unknown;
}

/**
 * Any request to /mcp, as bare as it is given: no Accept header, no session. Each has its own connection: a pooled one could be closed by the
 * server while the request is written.
 */
export async function sendRawRequest(
  url: string,
  request: { method?: string; headers?: Record<string, string>; body?: string | Uint8Array<ArrayBuffer> },
): Promise<RawResponse> {
  const { method = 'POST', body } = request;
  const headers = { ...request.headers, connection: 'close' };
  const response = await fetch(`${url}/mcp`, { method, headers, ...(body !== undefined && { body }) });
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  const [event] = type === 'text/event-stream' ? text.split('data: ').slice(-1) : [];
  const data = event ?? (type.startsWith('application/json') ? text : undefined);
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: data === undefined ? undefined : JSON.parse(data),
  };
}

/** One JSON-RPC message, by a client that sends nothing it need not send. */
export async function postRawMessage(
  url: string,
  token: string,
  message: object,
  headers: Record<string, string> = {},
): Promise<RawResponse> {
  const defaultHeaders = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const request = { headers: { ...defaultHeaders, ...headers }, body: JSON.stringify(message) };
  const response = await sendRawRequest(url, request);
  checkToolResponse(message, response.json);
  return response;
}

/** The JSON-RPC answer in a body. */
export function readRpcResult(answer: RawResponse): z.infer<typeof rpcAnswer> {
  return rpcAnswer.parse(answer.json);
}

/** Calls a tool with nothing but a token, and reads the JSON text of its result. */
export async function callToolRaw(url: string, token: string, name: string, args: object = {}) {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
  const answer = readRpcResult(await postRawMessage(url, token, message));
  const result = toolResult.parse(answer.result);
  const value: Record<string, unknown> = z
    .record(z.string(), z.unknown())
    .parse(JSON.parse(result.content[0]?.text ?? ''));
  return {
    isError: result.isError === true,
    value,
    structured: result.structuredContent,
    text: result.content[0]?.text ?? '',
  };
}
