import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Context } from 'koa';
import { requireVersion, versionHeader } from './headers.ts';
import { createSingleResponseTransport } from './single-response-transport.ts';

export interface PostedMessage {
  message: unknown;
  /** Whether the response is an event stream. */
  isEventStream: boolean;
  /** Address of the MCP endpoint. */
  address: string;
  /** Time between heartbeats on an event stream, in ms. */
  heartbeat_ms: number;
}

/** Answers one request with one JSON body. @throws {McpHttpError} 400 for an unsupported protocol version. */
export async function answerWithJson(ctx: Context, server: Server, request: JSONRPCRequest): Promise<void> {
  requireVersion(ctx);
  const transport = createSingleResponseTransport();
  await server.connect(transport);
  const { disconnected, stop } = watchDisconnect(ctx, server);
  const answer = await Promise.race([transport.request(request), disconnected]);
  stop();
  if (answer) ctx.body = answer;
}

/** Answers any POST through the SDK's HTTP transport. */
export async function answerWithSdkTransport(
  ctx: Context,
  server: Server,
  posted: PostedMessage,
): Promise<void> {
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: !posted.isEventStream,
    keepAliveMs: posted.heartbeat_ms,
  });
  await server.connect(transport);
  const answer = transport.handleRequest(requestFor(posted.address, ctx), { parsedBody: posted.message });
  const response = await Promise.race([answer, watchDisconnect(ctx, server).disconnected]);
  if (response) await sendResponse(ctx, response);
}

/** Closes the server when the connection closes; `disconnected` resolves only then. `stop` ends the watching. */
function watchDisconnect(ctx: Context, server: Server): { disconnected: Promise<undefined>; stop(): void } {
  let onClose = () => {};
  const disconnected = new Promise<undefined>((resolve) => {
    onClose = () => {
      server.close().catch((error: unknown) => server.onerror?.(new Error('closing', { cause: error })));
      resolve(undefined);
    };
    ctx.res.once('close', onClose);
  });
  return { disconnected, stop: () => void ctx.res.off('close', onClose) };
}

/** The request for the SDK, without its body. The response type is already decided, so `accept` is fixed. */
function requestFor(address: string, ctx: Context): Request {
  const headers: Record<string, string> = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  };
  const version = ctx.get(versionHeader);
  if (version !== '') headers[versionHeader] = version;
  return new Request(address, { method: 'POST', headers });
}

/** Sends what the SDK answers. */
async function sendResponse(ctx: Context, response: Response): Promise<void> {
  if (response.headers.get('content-type') !== 'application/json') {
    ctx.body = response;
    return;
  }
  ctx.status = response.status;
  ctx.type = 'application/json';
  ctx.body = await response.text();
}
