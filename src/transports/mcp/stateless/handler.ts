import { TRACEPARENT_META_KEY } from '@modelcontextprotocol/server';
import type { Context } from 'koa';
import type { Actor } from '../../../../packages/core/src/domain/auth/actor.ts';
import type { McpParts } from '../parts.ts';
import type { Authorizer } from '../protocol/authorizer.ts';
import { eventMethods } from '../../../../packages/core/src/domain/feed/event-dialects.ts';
import type { EventStream } from '../events/stream.ts';
import { McpHttpError, rpcCodes } from '../protocol/errors.ts';
import { responseEndOf } from '../protocol/exchange.ts';
import { accept } from '../protocol/http-responses.ts';
import { acceptsJson, acceptsStreams } from '../protocol/post.ts';
import { type McpFeatures, readField, requireScopes } from '../protocol/required-scopes.ts';
import type { Places } from '../sessions/places.ts';
import { requireStandardHeaders, type StatelessMessage } from './classify-request.ts';
import { readRequestClient } from './client-info.ts';
import { createDispatch, type DispatchParts } from './dispatch.ts';
import type { Listen } from './listen.ts';

export interface StatelessParts extends DispatchParts {
  features: McpFeatures;
  authorizer: Authorizer;
  listen: Listen;
  places: Places;
  eventSubscriptions: Pick<McpParts['eventSubscriptions'], 'recordCall'>;
  eventStream: EventStream;
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
  const dispatch = createDispatch(parts);
  const handlers = new Map([
    ['subscriptions/listen', parts.listen],
    [eventMethods.stream, parts.eventStream],
  ]);

  return async function post(
    ctx: Context,
    actor: Actor,
    { message, revision, request_id }: StatelessMessage & { request_id: string },
  ): Promise<void> {
    if (!acceptsJson(ctx)) {
      const text = 'Not Acceptable: accept application/json and text/event-stream.';
      throw new McpHttpError(406, rpcCodes.serverError, text);
    }
    if (!('id' in message)) {
      // Nothing follows from a notification: a client ends a call by closing its connection.
      accept(ctx);
      return;
    }
    requireStandardHeaders(ctx, { message, revision }, parts.features.toolNames);
    parts.authorizer.withChallenge(ctx, () => requireScopes(parts.features, message, actor));
    const meta = readField(message.params, '_meta');
    const caller = {
      actor,
      request_id,
      client: readRequestClient(meta),
      isStreaming: acceptsStreams(ctx),
      place: parts.places.ofSignIn(actor),
      onResponseEnd: responseEndOf(ctx),
    };
    if (message.method === 'tools/call') parts.eventSubscriptions.recordCall(actor);
    const serve = handlers.get(message.method) ?? dispatch;
    const run = () => serve(ctx, caller, message);
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
