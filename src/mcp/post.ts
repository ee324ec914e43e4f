import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { isInitializeRequest, isJSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Context } from 'koa';
import type { Actor } from '../domain/actor.ts';
import { answerByHttp, answerOnce } from './answers.ts';
import type { Authorizer } from './authorize.ts';
import type { Caller } from './caller.ts';
import { clientFacts, negotiatedVersion } from './client-facts.ts';
import type { Traffic } from './exchange.ts';
import { sessionHeader } from './headers.ts';
import { readJsonBody } from './json-body.ts';
import { Refusal, rpcCodes } from './refusal.ts';
import { called, field, messagesIn, requireScopes } from './scopes.ts';
import type { Shown } from './shown.ts';
import type { Session, Sessions } from './sessions.ts';
import { takeForOthers } from './side-messages.ts';

export interface PostParts {
  sessions: Sessions;
  authorizer: Authorizer;
  shown: Shown;
  makeServer(caller: Caller): Server;
  traffic: Traffic;
  address: string;
  heartbeat_ms: number;
}

/**
 * POST /mcp (MCP, Transports: Sending Messages to the Server). Each request has a server and a transport of its own, so that any
 * process can serve any request. Without a session id it is served with the rights of its token alone.
 */
export function createPost(parts: PostParts) {
  const { address, heartbeat_ms } = parts;
  return async function post(ctx: Context, actor: Actor, request_id: string): Promise<void> {
    const takesJson = wantsJson(ctx);
    const message = await readJsonBody(ctx);
    const given = ctx.get(sessionHeader);
    const introduces = isInitializeRequest(message);
    if (introduces) {
      ctx.set(
        sessionHeader,
        await parts.sessions.begin(actor, negotiatedVersion(message), clientFacts(message)),
      );
    }
    const session = given === '' || introduces ? undefined : await parts.sessions.check(given, actor);
    parts.authorizer.challenged(ctx, () => requireScopes(parts.shown, message, actor));
    if (session) takeForOthers(parts.traffic, { session: session.key, agent_id: actor.agent_id }, message);

    const streams = !takesJson || (maySpeak(parts.shown, message, session) && takesStreams(ctx));
    const answered = (then: () => void) => void ctx.res.once('finish', then);
    const server = parts.makeServer({ actor, request_id, session, streams, answered });
    if (streams || introduces || !isJSONRPCRequest(message)) {
      await answerByHttp(ctx, server, { message, streams, address, heartbeat_ms });
    } else await answerOnce(ctx, server, message);
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
