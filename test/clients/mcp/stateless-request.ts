import { type SseClient, openSseStream } from '../sse.ts';
import { postRawMessage, type RawResponse, readRpcResult } from './client.ts';

const prefix = 'io.modelcontextprotocol';

export const statelessRevision = '2026-07-28';

export interface StatelessRequest {
  method: string;
  params?: Record<string, unknown>;
  /** Capabilities of the client. */
  capabilities?: object;
  /** Fields of `_meta` besides those that every request has; `undefined` removes one. */
  meta?: Record<string, unknown>;
  /** Headers besides those that every request has; an empty one is not sent. */
  headers?: Record<string, string>;
  id?: string | number;
}

/** A request of revision 2026-07-28, complete and with its headers. */
export function buildStatelessRequest(request: StatelessRequest) {
  const { method, params = {}, capabilities = {}, meta = {}, id = 1 } = request;
  const name = params['name'] ?? params['uri'] ?? params['taskId'];
  const headers = {
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': statelessRevision,
    'Mcp-Method': method,
    ...(typeof name === 'string' && { 'Mcp-Name': encodeHeader(name) }),
    ...request.headers,
  };
  const envelope = {
    [`${prefix}/protocolVersion`]: statelessRevision,
    [`${prefix}/clientInfo`]: { name: 'raw', version: '1' },
    [`${prefix}/clientCapabilities`]: capabilities,
    ...meta,
  };
  return {
    headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== '')),
    message: { jsonrpc: '2.0', id, method, params: { ...params, _meta: envelope } },
  };
}

/** A header value: in Base64 if the text has characters that a header cannot have (MCP, Transports: Value Encoding). */
function encodeHeader(text: string): string {
  return /^[!-~]*$/.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** Sends one request of revision 2026-07-28. */
export function postStateless(url: string, token: string, request: StatelessRequest): Promise<RawResponse> {
  const { headers, message } = buildStatelessRequest(request);
  return postRawMessage(url, token, message, headers);
}

/** The same; returns the result or the error. */
export async function askStateless(url: string, token: string, request: StatelessRequest) {
  return readRpcResult(await postStateless(url, token, request));
}

/** Opens `subscriptions/listen`. */
export function listenStateless(
  url: string,
  token: string,
  notifications: object,
  id: string | number = 'listen',
  capabilities: object = {},
): Promise<SseClient> {
  const { headers, message } = buildStatelessRequest({
    method: 'subscriptions/listen',
    params: { notifications },
    capabilities,
    id,
  });
  return openSseStream(
    `${url}/mcp`,
    { ...headers, Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    JSON.stringify(message),
  );
}
