import type { Context, Middleware } from 'koa';
import type { Actor } from '../domain/actor.ts';
import { acknowledgingTool } from './acknowledging-tool.ts';
import { createAuthorizer } from './authorize.ts';
import { createGuard } from './guard.ts';
import { requireVersion, sessionHeader } from './headers.ts';
import type { McpParts } from './parts.ts';
import { createPost } from './post.ts';
import { createQuestions } from './questions.ts';
import { prompts } from './prompts.ts';
import { Refusal, rpcCodes } from './refusal.ts';
import { resourcesOf } from './resources.ts';
import { createRunningCalls } from './running-calls.ts';
import { createServerFactory } from './server.ts';
import { createSessions } from './sessions.ts';
import { createGet } from './get.ts';
import { createStreamSet } from './stream-set.ts';
import { createSubscriptions } from './subscriptions.ts';
import { toolsOf } from './tools.ts';
import { waitingTool } from './waiting-tool.ts';

export interface McpFace {
  /** Serves /mcp; passes everything else on. Must come before anything that reads request bodies. */
  middleware: Middleware;
  /** Ends all notification streams. Requests that run are answered, those that wait for somebody without him. */
  close(): Promise<void>;
}

type Handler = (ctx: Context, actor: Actor, requestId: string) => Promise<void>;

const path = '/mcp';

/**
 * The MCP tool server over the operation catalogue (interface.md, Tool server). It keeps nothing between requests that another
 * process would have to know.
 * @throws {Error} when a tool or resource of the catalogue cannot be shown.
 */
export function createMcpFace(parts: McpParts): McpFace {
  const { tokens, realtime, logger, public_url, heartbeat_ms = 15_000 } = parts;
  const guard = createGuard(public_url, parts.allowed_hosts);
  const authorizer = createAuthorizer(tokens, public_url);
  const { tools = [], resources = [], prompts: more = [] } = parts.additions ?? {};
  const shown = {
    tools: toolsOf(parts.catalogue, [waitingTool(parts), acknowledgingTool(parts), ...tools]),
    resources: resourcesOf(parts.catalogue, resources),
    prompts: [...prompts, ...more],
  };
  const log = (message: string, error: unknown) => logger.debug({ err: error }, message);
  const sessions = createSessions(parts.sessions, parts.bus, log);
  const traffic = { questions: createQuestions(parts.bus, log), calls: createRunningCalls(parts.bus, log) };
  const subscriptions = createSubscriptions(parts, shown.resources, sessions);
  const makeServer = createServerFactory(parts, shown, traffic, { subscriptions, sessions });
  const streams = createStreamSet(sessions, logger, 4 * heartbeat_ms);
  const address = `${public_url}${path}`;

  const handlers = new Map<string, Handler>([
    ['GET', createGet({ sessions, realtime, streams, heartbeat_ms, slow: parts.slow })],
    ['POST', createPost({ sessions, authorizer, shown, makeServer, traffic, address, heartbeat_ms })],
    ['DELETE', endSession],
  ]);
  const allow = [...handlers.keys()].join(', ');

  async function endSession(ctx: Context, actor: Actor): Promise<void> {
    requireVersion(ctx);
    const id = ctx.get(sessionHeader);
    if (id === '') throw new Refusal(400, rpcCodes.refused, 'Bad Request: Mcp-Session-Id is missing.');
    await sessions.end(id, actor);
    streams.endSession(id);
    ctx.status = 204;
  }

  async function serve(ctx: Context): Promise<void> {
    guard(ctx);
    const handler = handlers.get(ctx.method);
    if (!handler) {
      throw new Refusal(405, rpcCodes.refused, 'Method not allowed.', { headers: { Allow: allow } });
    }
    const actor = await authorizer.authenticate(ctx);
    await handler(ctx, actor, String(ctx.state['request_id']));
  }

  return {
    async middleware(ctx, next) {
      try {
        await (ctx.path === path ? serve(ctx) : next());
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        ctx.status = error.status;
        ctx.set(error.headers);
        ctx.body = error.toJSON();
      }
    },
    async close() {
      streams.close();
      traffic.calls.close();
      traffic.questions.close();
      sessions.close();
    },
  };
}
