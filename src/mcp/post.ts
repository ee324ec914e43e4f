import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Context } from 'koa';
import type { Actor } from '../domain/actor.ts';
import type { Authorizer } from './authorize.ts';
import type { Caller } from './caller.ts';
import { clientFacts, negotiatedVersion } from './client-facts.ts';
import type { Traffic } from './exchange.ts';
import { sessionHeader, versionHeader } from './headers.ts';
import { readJsonBody } from './json-body.ts';
import type { McpLogger } from './parts.ts';
import { Refusal, rpcCodes } from './refusal.ts';
import { called, field, messagesIn, requireScopes } from './scopes.ts';
import type { Shown } from './server.ts';
import { type Session, type Sessions, sessionKey } from './sessions.ts';
import { takeForOthers } from './side-messages.ts';

export interface PostParts {
  sessions: Sessions;
  authorizer: Authorizer;
  shown: Shown;
  makeServer(caller: Caller): Server;
  traffic: Traffic;
  address: string;
  heartbeat_ms: number;
  logger: McpLogger;
}

/**
 * POST /mcp (MCP, Transports: Sending Messages to the Server). Each request has a server and a transport of its own, so that any
 * process can serve any request. Without a session id it is served with the rights of its token alone.
 */
export function createPost(parts: PostParts) {
  return async function post(ctx: Context, actor: Actor, request_id: string): Promise<void> {
    const takesJson = wantsJson(ctx);
    const message = await readJsonBody(ctx);
    const given = ctx.get(sessionHeader);
    if (isInitializeRequest(message)) {
      ctx.set(
        sessionHeader,
        await parts.sessions.begin(actor, negotiatedVersion(message), clientFacts(message)),
      );
    }
    const known =
      given === '' || isInitializeRequest(message) ? undefined : await parts.sessions.check(given, actor);
    parts.authorizer.challenged(ctx, () => requireScopes(parts.shown, message, actor));
    const session = known && { key: sessionKey(given), client: known.client };
    if (session) takeForOthers(parts.traffic, { session: session.key, agent_id: actor.agent_id }, message);

    const streams = !takesJson || (takesStreams(ctx) && maySpeak(parts.shown, message, known));
    const answered = (then: () => void) => void ctx.res.once('finish', then);
    const server = parts.makeServer({ actor, request_id, session, streams, answered });
    const transport = new WebStandardStreamableHTTPServerTransport({
      enableJsonResponse: !streams,
      keepAliveMs: parts.heartbeat_ms,
    });
    await server.connect(transport);
    const answer = transport.handleRequest(requestFor(parts.address, ctx), { parsedBody: message });
    const response = await Promise.race([answer, untilGone(ctx, server, parts.logger)]);
    if (response) await send(ctx, response);
  };
}

/** JSON for whoever takes it, also for those who do not say; SSE only for those who take nothing else. */
function wantsJson(ctx: Context): boolean {
  if (ctx.accepts('application/json')) return true;
  if (ctx.accepts('text/event-stream')) return false;
  throw new Refusal(406, rpcCodes.refused, 'Not Acceptable: accept application/json or text/event-stream.');
}

/** Whether the client names event streams: any type at all is not meant so by those who cannot read them. */
function takesStreams(ctx: Context): boolean {
  return ctx.get('Accept').includes('text/event-stream') && Boolean(ctx.accepts('text/event-stream'));
}

/** Whether a call could have something to say before it is answered: a question to the person behind it, or how far it is. */
function maySpeak(shown: Shown, message: unknown, session: Session | undefined): boolean {
  const asks = (session?.client.elicitation.length ?? 0) > 0;
  const reports = messagesIn(message).some((one) => wantsReports(one));
  return called(shown, message).some(
    ({ operation, during, speaks = false }) =>
      speaks || (asks && operation.approval !== undefined) || (reports && during !== undefined),
  );
}

function wantsReports(message: unknown): boolean {
  return field(field(field(message, 'params'), '_meta'), 'progressToken') !== undefined;
}

/** The request as the SDK wants to see it: its body is read already, and what it accepts was decided above. */
function requestFor(address: string, ctx: Context): Request {
  const headers: Record<string, string> = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  };
  const version = ctx.get(versionHeader);
  if (version !== '') headers[versionHeader] = version;
  return new Request(address, { method: 'POST', headers });
}

/** Ends the server together with the connection; answers nothing, and only then. */
function untilGone(ctx: Context, server: Server, logger: McpLogger): Promise<undefined> {
  return new Promise((resolve) => {
    ctx.res.once('close', () => {
      server.close().catch((error: unknown) => logger.debug({ err: error }, 'an MCP server did not close'));
      resolve(undefined);
    });
  });
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
