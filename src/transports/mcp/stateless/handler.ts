import { createMcpHandler, isJSONRPCRequest, TRACEPARENT_META_KEY } from '@modelcontextprotocol/server';
import type { Context } from 'koa';
import type { Actor } from '../../../domain/auth/actor.ts';
import type { McpParts } from '../parts.ts';
import type { Authorizer } from '../protocol/authorizer.ts';
import { eventMethods } from '../../../domain/feed/event-dialects.ts';
import type { EventStream } from '../events/stream.ts';
import { McpHttpError, rpcCodes } from '../protocol/errors.ts';
import { sendResponse } from '../protocol/http-responses.ts';
import { readRequestId } from '../protocol/json-body.ts';
import { acceptsJson, acceptsStreams } from '../protocol/post.ts';
import { type McpFeatures, readField, requireScopes } from '../protocol/required-scopes.ts';
import { requireStandardHeaders, type StatelessMessage } from './classify-request.ts';
import { readRequestClient } from './client-info.ts';
import type { Listen } from './listen.ts';
import { createStatelessServerFactory, type StatelessCall, type StatelessServerParts } from './server.ts';

export interface StatelessParts extends StatelessServerParts {
  features: McpFeatures;
  authorizer: Authorizer;
  listen: Listen;
  eventSubscriptions: Pick<McpParts['eventSubscriptions'], 'recordCall'>;
  eventStream: EventStream;
  address: string;
  heartbeat_ms: number;
  /** Runs a function as part of the trace of the client. */
  runWithin?: ((traceparent: string | undefined, run: () => Promise<void>) => Promise<void>) | undefined;
}

/** W3C Trace Context, section 3.2. */
const wellFormedTrace = /^00-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

/**
 * Serves one POST of revision 2026-07-28 (MCP, Transports: Streamable HTTP). Each request is complete in itself: it names its revision, its
 * client and what the client can do, so any process can serve it.
 */
export function createStatelessHandler(parts: StatelessParts) {
  const makeServer = createStatelessServerFactory(parts);
  const calls = new WeakMap<Request, StatelessCall>();
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const call = requestInfo && calls.get(requestInfo);
      if (!call) throw new Error('the request has no caller');
      return makeServer(call);
    },
    {
      legacy: 'reject',
      keepAliveMs: parts.heartbeat_ms,
      onerror: (error) => parts.logger.debug({ err: error }, 'MCP request'),
    },
  );

  async function serve(ctx: Context, call: StatelessCall): Promise<void> {
    const disconnected = new AbortController();
    ctx.res.once('close', () => disconnected.abort());
    const request = new Request(parts.address, {
      method: 'POST',
      headers: protocolHeaders(ctx),
      signal: disconnected.signal,
    });
    calls.set(request, call);
    await sendResponse(ctx, await handler.fetch(request, { parsedBody: call.message }));
  }

  return async function post(
    ctx: Context,
    actor: Actor,
    { message, revision, request_id }: StatelessMessage & { request_id: string },
  ): Promise<void> {
    if (!acceptsJson(ctx)) {
      const text = 'Not Acceptable: accept application/json and text/event-stream.';
      throw new McpHttpError(406, rpcCodes.serverError, text, { id: readRequestId(message) });
    }
    parts.authorizer.withChallenge(ctx, () => requireScopes(parts.features, message, actor));
    const meta = readField(message.params, '_meta');
    const caller = {
      actor,
      request_id,
      client: readRequestClient(meta),
      isStreaming: acceptsStreams(ctx),
      onResponseSent: (callback: () => void) => void ctx.res.once('finish', callback),
    };
    if (isJSONRPCRequest(message) && message.method === 'tools/call')
      parts.eventSubscriptions.recordCall(actor);
    const run = async () => {
      if (isJSONRPCRequest(message) && message.method === 'subscriptions/listen') {
        requireStandardHeaders(ctx, { message, revision });
        await parts.listen(ctx, caller, message);
      } else if (isJSONRPCRequest(message) && message.method === eventMethods.stream) {
        requireStandardHeaders(ctx, { message, revision });
        await parts.eventStream(ctx, caller, message);
      } else await serve(ctx, { caller, message });
    };
    const trace = readTrace(ctx, meta);
    await (trace !== undefined && parts.runWithin ? parts.runWithin(trace, run) : run());
  };
}

/** The trace that `_meta` names. The traceparent header has precedence: the span of the request continues it already. */
function readTrace(ctx: Context, meta: unknown): string | undefined {
  const trace = readField(meta, TRACEPARENT_META_KEY);
  const isUsed = ctx.get('traceparent') === '' && typeof trace === 'string' && wellFormedTrace.test(trace);
  return isUsed ? trace : undefined;
}

/** The headers that the SDK checks. The body is parsed already. */
function protocolHeaders(ctx: Context): Headers {
  const headers = new Headers({ 'content-type': 'application/json' });
  for (const name of Object.keys(ctx.headers)) if (name.startsWith('mcp-')) headers.set(name, ctx.get(name));
  return headers;
}
