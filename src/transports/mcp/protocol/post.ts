import type { CallRegistry, Caller } from './exchange.ts';
import type { SessionOwner } from '../approvals/client-requests.ts';
import { readField, toMessages, calledOperations, requireScopes } from './required-scopes.ts';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { isInitializeRequest, isJSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Context } from 'koa';
import type { Actor } from '../../../domain/auth/actor.ts';
import { hasFeedScope } from '../../../realtime/feed-scopes.ts';
import type { RateLimits } from '../../../operations/rate-limits.ts';
import type { Realtime } from '../../../realtime/contract.ts';
import { answerWithSdkTransport, answerWithJson } from './http-responses.ts';
import type { Authorizer } from './authorizer.ts';
import { readClientInfo, negotiateVersion } from '../sessions/client-info.ts';
import { sessionHeader } from './headers.ts';
import { consumeBudget } from './rate-limit.ts';
import { requireInitializeParams, requireVersionOf } from './json-body.ts';
import { McpHttpError, rpcCodes } from './errors.ts';
import type { McpFeatures } from './required-scopes.ts';
import type { Session, Sessions } from '../sessions/sessions.ts';

export interface PostParts {
  realtime: Pick<Realtime, 'feedStatus'>;
  limits: RateLimits;
  sessions: Sessions;
  authorizer: Authorizer;
  features: McpFeatures;
  makeServer(caller: Caller): Server;
  callRegistry: CallRegistry;
  address: string;
  heartbeat_ms: number;
}

/**
 * POST /mcp of the revisions until 2025-11-25 (MCP, Transports: Sending Messages to the Server). Each request has its own server and transport, so any process
 * can serve it. A request without a session id has only the rights of its token.
 */
export function createPostHandler(parts: PostParts) {
  const { address, heartbeat_ms } = parts;
  return async function post(
    ctx: Context,
    actor: Actor,
    { message, request_id }: { message: unknown; request_id: string },
  ): Promise<void> {
    const wantsJson = acceptsJson(ctx);
    requireInitializeParams(message);
    requireVersionOf(ctx, message);
    const sessionId = ctx.get(sessionHeader);
    const isInitialize = isInitializeRequest(message);
    if (isInitialize) {
      await consumeBudget(parts.limits, 'mcp_initialize', {
        actor,
        id: isJSONRPCRequest(message) ? message.id : null,
      });
      ctx.set(
        sessionHeader,
        await parts.sessions.begin(actor, {
          protocol_version: negotiateVersion(message),
          client: readClientInfo(message),
          stream_cursor: hasFeedScope(actor) ? (await parts.realtime.feedStatus(actor)).cursor : null,
        }),
      );
    }
    const session =
      sessionId === '' || isInitialize ? undefined : await parts.sessions.check(sessionId, actor);
    parts.authorizer.withChallenge(ctx, () => requireScopes(parts.features, message, actor));
    if (session)
      routeClientMessages(parts.callRegistry, { session: session.key, agent_id: actor.agent_id }, message);

    const isStreaming =
      !wantsJson || (maySendMessages(parts.features, message, session) && acceptsStreams(ctx));
    const onResponseSent = (callback: () => void) => void ctx.res.once('finish', callback);
    const server = parts.makeServer({
      actor,
      request_id,
      session,
      client: session?.client,
      isStreaming,
      onResponseSent,
    });
    if (isStreaming || isInitialize || !isJSONRPCRequest(message)) {
      await answerWithSdkTransport(ctx, server, {
        message,
        isEventStream: isStreaming,
        address,
        heartbeat_ms,
      });
    } else await answerWithJson(ctx, server, message);
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
export function requireStreams(ctx: Context, id: string | number): void {
  if (acceptsStreams(ctx)) return;
  throw new McpHttpError(406, rpcCodes.serverError, 'Not Acceptable: accept text/event-stream.', { id });
}

/** Whether a call may send messages before its result: an approval request, progress or log messages. */
function maySendMessages(features: McpFeatures, message: unknown, session: Session | undefined): boolean {
  const canAsk = (session?.client.elicitation.length ?? 0) > 0;
  const wantsReports = toMessages(message).some((item) => wantsProgress(item));
  return calledOperations(features, message).some(
    ({ operation, createRun, sendsMessages = false }) =>
      sendsMessages ||
      (canAsk && operation.approval !== undefined) ||
      (wantsReports && (createRun !== undefined || operation.reply !== undefined)),
  );
}

function wantsProgress(message: unknown): boolean {
  return readField(readField(readField(message, 'params'), '_meta'), 'progressToken') !== undefined;
}

/**
 * Routes client responses and cancellations, which may be for another process. Unknown ones are dropped silently.
 */
export function routeClientMessages(
  { clientRequests, runningCalls }: CallRegistry,
  owner: SessionOwner,
  message: unknown,
): void {
  for (const item of toMessages(message)) {
    const method = readField(item, 'method');
    if (method === 'notifications/cancelled')
      runningCalls.cancel(owner, readField(readField(item, 'params'), 'requestId'));
    else if (method === undefined) clientRequests.onResponse(owner, item);
  }
}
