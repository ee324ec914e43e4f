import type { CallRegistry, Caller } from './exchange.ts';
import type { SessionOwner } from '../approvals/client-requests.ts';
import { readField, toMessages, calledOperations, requireScopes } from './required-scopes.ts';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { isInitializeRequest, isJSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Context } from 'koa';
import type { Actor } from '../../../domain/auth/actor.ts';
import { answerWithSdkTransport, answerWithJson } from './http-responses.ts';
import type { Authorizer } from './authorizer.ts';
import { readClientInfo, negotiateVersion } from '../sessions/client-info.ts';
import { sessionHeader } from './headers.ts';
import { readJsonBody } from './json-body.ts';
import { McpHttpError, rpcCodes } from './errors.ts';
import type { McpFeatures } from './methods.ts';
import type { Session, Sessions } from '../sessions/sessions.ts';

export interface PostParts {
  sessions: Sessions;
  authorizer: Authorizer;
  features: McpFeatures;
  makeServer(caller: Caller): Server;
  traffic: CallRegistry;
  address: string;
  heartbeat_ms: number;
}

/**
 * POST /mcp (MCP, Transports: Sending Messages to the Server). Each request has a server and a transport of its own, so that any
 * process can serve any request. Without a session id it is served with the rights of its token alone.
 */
export function createPostHandler(parts: PostParts) {
  const { address, heartbeat_ms } = parts;
  return async function post(ctx: Context, actor: Actor, request_id: string): Promise<void> {
    const takesJson = acceptsJson(ctx);
    const message = await readJsonBody(ctx);
    const given = ctx.get(sessionHeader);
    const introduces = isInitializeRequest(message);
    if (introduces) {
      ctx.set(
        sessionHeader,
        await parts.sessions.begin(actor, negotiateVersion(message), readClientInfo(message)),
      );
    }
    const session = given === '' || introduces ? undefined : await parts.sessions.check(given, actor);
    parts.authorizer.withChallenge(ctx, () => requireScopes(parts.features, message, actor));
    if (session)
      routeClientMessages(parts.traffic, { session: session.key, agent_id: actor.agent_id }, message);

    const isStreaming =
      !takesJson || (maySendMessages(parts.features, message, session) && acceptsStreams(ctx));
    const onResponseSent = (then: () => void) => void ctx.res.once('finish', then);
    const server = parts.makeServer({ actor, request_id, session, isStreaming, onResponseSent });
    if (isStreaming || introduces || !isJSONRPCRequest(message)) {
      await answerWithSdkTransport(ctx, server, {
        message,
        isEventStream: isStreaming,
        address,
        heartbeat_ms,
      });
    } else await answerWithJson(ctx, server, message);
  };
}

/** JSON for whoever takes it, also for those who do not say; SSE only for those who take nothing else. */
function acceptsJson(ctx: Context): boolean {
  if (ctx.accepts('application/json')) return true;
  if (ctx.accepts('text/event-stream')) return false;
  throw new McpHttpError(
    406,
    rpcCodes.serverError,
    'Not Acceptable: accept application/json or text/event-stream.',
  );
}

/** Whether the client names event streams: any type at all is not meant so by those who cannot read them. */
function acceptsStreams(ctx: Context): boolean {
  return ctx.get('Accept').includes('text/event-stream') && Boolean(ctx.accepts('text/event-stream'));
}

/** Whether a call could have something to say before it is answered: a question to the person behind it, or how far it is. */
function maySendMessages(shown: McpFeatures, message: unknown, session: Session | undefined): boolean {
  const asks = (session?.client.elicitation.length ?? 0) > 0;
  const reports = toMessages(message).some((one) => wantsProgress(one));
  return calledOperations(shown, message).some(
    ({ operation, createRun, sendsMessages = false }) =>
      sendsMessages || (asks && operation.approval !== undefined) || (reports && createRun !== undefined),
  );
}

function wantsProgress(message: unknown): boolean {
  return readField(readField(readField(message, 'params'), '_meta'), 'progressToken') !== undefined;
}

/**
 * Hands on what a client sends beside its calls and is for another process perhaps: its answers to requests of ours, and
 * cancellations. What is for nobody is dropped; the client is not told.
 */
export function routeClientMessages(
  { clientRequests, runningCalls }: CallRegistry,
  by: SessionOwner,
  message: unknown,
): void {
  for (const one of toMessages(message)) {
    const method = readField(one, 'method');
    if (method === 'notifications/cancelled')
      runningCalls.cancel(by, readField(readField(one, 'params'), 'requestId'));
    else if (method === undefined) clientRequests.onResponse(by, one);
  }
}
