import type { Context, Middleware } from 'koa';
import type { Actor } from '../../domain/auth/actor.ts';
import { createAcknowledgeEventsTool } from './tools/acknowledge-events-tool.ts';
import { createAuthorizer } from './protocol/authorizer.ts';
import { createHostGuard } from './protocol/host-guard.ts';
import { requireVersion, sessionHeader } from './protocol/headers.ts';
import type { McpParts } from './parts.ts';
import type { McpFeatures } from './protocol/required-scopes.ts';
import { createPostHandler } from './protocol/post.ts';
import { createClientRequests } from './approvals/client-requests.ts';
import { prompts } from './prompts/prompts.ts';
import { McpHttpError, rpcCodes } from './protocol/errors.ts';
import { createResources } from './resources/resources.ts';
import { createRunningCalls } from './protocol/running-calls.ts';
import { createServerFactory } from './protocol/server.ts';
import { createSessions, type Sessions } from './sessions/sessions.ts';
import { createGetHandler } from './notifications/get.ts';
import { createStreamSet, type StreamSet } from './sessions/stream-set.ts';
import { createSubscriptions } from './resources/subscriptions.ts';
import { createTools } from './tools/tools.ts';
import { createWaitForEventsTool } from './tools/wait-for-events-tool.ts';

export interface McpTransport {
  /** Serves /mcp and calls `next` for other paths. Mount it before body parsers. */
  middleware: Middleware;
  /** Ends all notification streams. Running calls are answered; calls that wait stop waiting. */
  close(): Promise<void>;
}

type Handler = (ctx: Context, actor: Actor, requestId: string) => Promise<void>;

const path = '/mcp';

/**
 * The MCP server over the operation catalogue. Any process can serve any request.
 * @throws {Error} when a tool or resource of the catalogue has no valid schema.
 */
export function createMcpTransport(parts: McpParts): McpTransport {
  const { tokens, realtime, limits, logger, public_url, heartbeat_ms = 15_000 } = parts;
  const guard = createHostGuard(public_url, parts.allowed_hosts);
  const authorizer = createAuthorizer(tokens, public_url);
  const log = (message: string, error: unknown) => logger.debug({ err: error }, message);
  const sessions = createSessions(parts.sessions, (error) =>
    log('storing a position of a session failed', error),
  );
  const features = createFeatures(parts, sessions);
  const callRegistry = {
    clientRequests: createClientRequests(parts.bus, log),
    runningCalls: createRunningCalls(parts.bus, log),
  };
  const subscriptions = createSubscriptions(parts, features.resources, sessions);
  const makeServer = createServerFactory(parts, features, callRegistry, { subscriptions, sessions });
  const streams = createStreamSet(sessions, logger, 4 * heartbeat_ms);
  const address = `${public_url}${path}`;

  const handlers = new Map<string, Handler>([
    [
      'GET',
      createGetHandler({
        sessions,
        limits,
        realtime,
        streams,
        heartbeat_ms,
        onSlowReader: parts.onSlowReader,
      }),
    ],
    [
      'POST',
      createPostHandler({
        realtime,
        limits,
        sessions,
        authorizer,
        features,
        makeServer,
        callRegistry,
        address,
        heartbeat_ms,
      }),
    ],
    ['DELETE', createDeleteHandler(sessions, streams)],
  ]);
  const allow = [...handlers.keys()].join(', ');

  async function serve(ctx: Context): Promise<void> {
    guard(ctx);
    if (isPreflight(ctx)) {
      answerPreflight(ctx, allow);
      return;
    }
    const handler = handlers.get(ctx.method);
    if (!handler) {
      throw new McpHttpError(405, rpcCodes.serverError, 'Method not allowed.', { headers: { Allow: allow } });
    }
    const actor = await authorizer.authenticate(ctx);
    await handler(ctx, actor, String(ctx.state['request_id']));
  }

  return {
    async middleware(ctx, next) {
      try {
        await (ctx.path === path || ctx.path === `${path}/` ? serve(ctx) : next());
      } catch (error) {
        if (!(error instanceof McpHttpError)) throw error;
        ctx.status = error.status;
        ctx.set(error.headers);
        ctx.body = error.toJSON();
      }
    },
    async close() {
      streams.close();
      callRegistry.runningCalls.close();
      callRegistry.clientRequests.close();
    },
  };
}

function createFeatures(parts: McpParts, sessions: Sessions): McpFeatures {
  const { tools = [], resources = [], prompts: addedPrompts = [] } = parts.additions ?? {};
  return {
    tools: createTools(
      parts.catalogue,
      [createWaitForEventsTool({ ...parts, sessions }), createAcknowledgeEventsTool(parts), ...tools],
      ({ actor, session_key }, { id, thread_id, sequence, sender }) => {
        parts.realtime.markDelivered(actor, [{ message: { thread_id, sequence, sender_id: sender.id } }]);
        if (session_key) sessions.movePosition(session_key, { returned: [id], passed: [] });
      },
    ),
    resources: createResources(parts.catalogue, resources),
    prompts: [...prompts, ...addedPrompts],
  };
}

function createDeleteHandler(sessions: Sessions, streams: StreamSet): Handler {
  return async (ctx, actor) => {
    requireVersion(ctx);
    const id = ctx.get(sessionHeader);
    if (id === '')
      throw new McpHttpError(400, rpcCodes.serverError, 'Bad Request: Mcp-Session-Id is missing.');
    await sessions.end(id, actor);
    streams.endSession(id);
    ctx.status = 204;
  };
}

/** Whether a page asks for permission to send a request (Fetch, section 3.2.2). */
function isPreflight(ctx: Context): boolean {
  return (
    ctx.method === 'OPTIONS' && ctx.get('Origin') !== '' && ctx.get('Access-Control-Request-Method') !== ''
  );
}

function answerPreflight(ctx: Context, methods: string): void {
  ctx.set('Access-Control-Allow-Methods', methods);
  ctx.set('Access-Control-Allow-Headers', ctx.get('Access-Control-Request-Headers') || '*');
  ctx.set('Access-Control-Max-Age', '3600');
  ctx.status = 204;
}
