import { mayAskPerson } from '../../../operations/execute/context.ts';
import { type CallRegistry, type Caller, responseEndOf } from './exchange.ts';
import type { SessionOwner } from '../approvals/client-requests.ts';
import {
  calledOperations,
  type McpFeatures,
  readField,
  requireScopes,
  toMessages,
} from './required-scopes.ts';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  type InitializeRequest,
  isInitializeRequest,
  isJSONRPCRequest,
} from '@modelcontextprotocol/sdk/types.js';
import type { Context } from 'koa';
import type { Actor } from '../../../../packages/core/src/domain/auth/actor.ts';
import { hasFeedScope } from '../../../../packages/core/src/events/feed-scopes.ts';
import type { RateLimits } from '../../../operations/rate-limits.ts';
import type { Realtime } from '../../../realtime/contract.ts';
import { createSseStream } from '../../http/sse.ts';
import { requireBatch } from './batch.ts';
import { answerRequests } from './http-responses.ts';
import type { Authorizer } from './authorizer.ts';
import { readClientInfo, negotiateVersion } from '../sessions/client-info.ts';
import { sessionHeader } from './headers.ts';
import { consumeBudget } from './rate-limit.ts';
import { requireInitializeParams, requireVersionOf } from './json-body.ts';
import { McpHttpError, rpcCodes } from './errors.ts';
import type { Places } from '../sessions/places.ts';
import type { Session, Sessions } from '../sessions/sessions.ts';

export interface PostParts {
  realtime: Pick<Realtime, 'startOf'>;
  limits: RateLimits;
  sessions: Sessions;
  places: Places;
  authorizer: Authorizer;
  features: McpFeatures;
  makeServer(caller: Caller): Server;
  callRegistry: CallRegistry;
  heartbeat_ms: number;
  onSlowReader: (() => void) | undefined;
}

/**
 * POST /mcp of the revisions until 2025-11-25 (MCP, Transports: Sending Messages to the Server). Each request has its own server and transport, so any process
 * can serve it. A request without a session id has only the rights of its token.
 */
export function createPostHandler(parts: PostParts) {
  const { heartbeat_ms, onSlowReader, features } = parts;

  /** Begins a session and names it in the response. */
  async function initialize(ctx: Context, actor: Actor, message: InitializeRequest): Promise<void> {
    await consumeBudget(parts.limits, 'mcp_initialize', actor);
    const id = await parts.sessions.begin(actor, {
      protocol_version: negotiateVersion(message),
      client: readClientInfo(message),
      stream_cursor: hasFeedScope(actor) ? (await parts.realtime.startOf(actor, 'latest')).cursor : null,
    });
    ctx.set(sessionHeader, id);
  }

  return async function post(
    ctx: Context,
    actor: Actor,
    { message, request_id }: { message: unknown; request_id: string },
  ): Promise<void> {
    const wantsJson = acceptsJson(ctx);
    requireInitializeParams(message);
    if (!Array.isArray(message)) requireVersionOf(ctx, message);
    const sessionId = ctx.get(sessionHeader);
    const isInitialize = isInitializeRequest(message);
    if (isInitialize) await initialize(ctx, actor, message);
    const session =
      sessionId === '' || isInitialize ? undefined : await parts.sessions.check(sessionId, actor);
    const batch = Array.isArray(message) ? requireBatch(ctx, message, session) : undefined;
    const { valid, refusals } = batch ?? { valid: [message], refusals: [] };
    parts.authorizer.withChallenge(ctx, () => requireScopes(features, valid, actor));
    if (session)
      await routeClientMessages(
        parts.callRegistry,
        { session: session.key, agent_id: actor.agent_id },
        valid,
      );

    const requests = valid.filter((one) => isJSONRPCRequest(one));
    const isStreaming =
      requests.length > 0 &&
      (!wantsJson || (maySendMessages(features, requests, session) && acceptsStreams(ctx)));
    const caller = {
      actor,
      request_id,
      session,
      place: session && parts.places.ofSession(session),
      client: session?.client,
      isStreaming,
      onResponseEnd: responseEndOf(ctx),
    };
    await answerRequests(ctx, {
      requests,
      refusals,
      isBatch: batch !== undefined,
      sse: isStreaming ? createSseStream(heartbeat_ms, onSlowReader) : undefined,
      makeServer: () => parts.makeServer(caller),
    });
  };
}

/** Whether to answer with JSON: always, unless the client accepts only event streams. @throws {McpHttpError} 406 */
export function acceptsJson(ctx: Context): boolean {
  if (ctx.accepts('application/json')) return true;
  if (ctx.accepts('text/event-stream')) return false;
  throw new McpHttpError(
    406,
    rpcCodes.serverError,
    'Not Acceptable: accept application/json or text/event-stream.',
  );
}

/** Whether the client names `text/event-stream`; a wildcard is not enough. */
export function acceptsStreams(ctx: Context): boolean {
  return ctx.get('Accept').includes('text/event-stream') && Boolean(ctx.accepts('text/event-stream'));
}

/** @throws {McpHttpError} 406 if the client does not name `text/event-stream`. */
export function requireStreams(ctx: Context): void {
  if (acceptsStreams(ctx)) return;
  throw new McpHttpError(406, rpcCodes.serverError, 'Not Acceptable: accept text/event-stream.');
}

/** Whether a call may take long, or send messages before its result: its response begins at once, where the client accepts a stream. */
function maySendMessages(features: McpFeatures, requests: unknown, session: Session | undefined): boolean {
  const canAsk = (session?.client.elicitation.length ?? 0) > 0;
  return calledOperations(features, requests).some(
    ({ operation, waits = false, sendsMessages = false }) =>
      waits || sendsMessages || (canAsk && mayAskPerson(operation)),
  );
}

/**
 * Routes client responses and cancellations, which may be for another process. Unknown ones are dropped silently.
 */
async function routeClientMessages(
  { clientRequests, runningCalls }: CallRegistry,
  owner: SessionOwner,
  message: unknown,
): Promise<void> {
  for (const item of toMessages(message)) {
    const method = readField(item, 'method');
    if (method === 'notifications/cancelled')
      await runningCalls.cancel(owner, readField(readField(item, 'params'), 'requestId'));
    else if (method === undefined) await clientRequests.onResponse(owner, item);
  }
}
