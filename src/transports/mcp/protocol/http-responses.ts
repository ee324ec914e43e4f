import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Context } from 'koa';
import { requireVersion, versionHeader } from './headers.ts';
import { createSingleResponseTransport } from './single-response-transport.ts';

export interface PostedMessage {
  message: unknown;
  /** Whether the answer is an event stream. */
  isEventStream: boolean;
  /** Of the tool server. */
  address: string;
  /** Time between two signs of life on an event stream. */
  heartbeat_ms: number;
}

/** Has the server answer one request with one JSON body. @throws {Refusal} 400 for a revision that is not spoken here. */
export async function answerWithJson(ctx: Context, server: Server, request: JSONRPCRequest): Promise<void> {
  requireVersion(ctx);
  const transport = createSingleResponseTransport();
  await server.connect(transport);
  const { gone, stop } = onceDisconnected(ctx, server);
  const answer = await Promise.race([transport.request(request), gone]);
  stop();
  if (answer) ctx.body = answer;
}

/** Has the server answer whatever a POST may carry, through the SDK's own transport for HTTP. */
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
  const response = await Promise.race([answer, onceDisconnected(ctx, server).gone]);
  if (response) await send(ctx, response);
}

/** Closes the server when the connection ends, unless that is stopped before: `gone` resolves then, and only then. */
function onceDisconnected(ctx: Context, server: Server): { gone: Promise<undefined>; stop(): void } {
  let leave = () => {};
  const gone = new Promise<undefined>((resolve) => {
    leave = () => {
      server.close().catch((error: unknown) => server.onerror?.(new Error('closing', { cause: error })));
      resolve(undefined);
    };
    ctx.res.once('close', leave);
  });
  return { gone, stop: () => void ctx.res.off('close', leave) };
}

/** The request as the SDK wants to see it: its body is read already, and what it accepts was decided before. */
function requestFor(address: string, ctx: Context): Request {
  const headers: Record<string, string> = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  };
  const version = ctx.get(versionHeader);
  if (version !== '') headers[versionHeader] = version;
  return new Request(address, { method: 'POST', headers });
}

async function send(ctx: Context, response: Response): Promise<void> {
  if (response.headers.get('content-type') !== 'application/json') {
    ctx.body = response;
    return;
  }
  ctx.status = response.status;
  ctx.type = 'application/json';
  ctx.body = await response.text();
}
