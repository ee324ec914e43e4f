import type { Context, Middleware } from 'koa';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { createAcknowledgeEventsTool } from './tools/acknowledge-events-tool.ts';
import { type Authorizer, createAuthorizer } from './protocol/authorizer.ts';
import { createHostGuard } from './protocol/host-guard.ts';
import { requireVersion, sessionHeader } from './protocol/headers.ts';
import type { McpParts } from './parts.ts';
import type { McpFeatures } from './protocol/required-scopes.ts';
import { createMethods, createSessionMethods } from './protocol/methods.ts';
import { createPostHandler } from './protocol/post.ts';
import { readJsonBody, readRequestId, requireJsonRpc } from './protocol/json-body.ts';
import type { CallRegistry } from './protocol/exchange.ts';
import { classifyRequest } from './stateless/classify-request.ts';
import { createStatelessHandler } from './stateless/handler.ts';
import { createApprovalTasks } from './tasks/approval-tasks.ts';
import { createQuestionTasks } from './tasks/question-tasks.ts';
import { createEventMethods } from './events/methods.ts';
import { createEventStream } from './events/stream.ts';
import { createTaskMethods, joinTaskSources } from './tasks/task-methods.ts';
import { createListen } from './stateless/listen.ts';
import { createClientRequests } from './approvals/client-requests.ts';
import { prompts } from './prompts/prompts.ts';
import { McpHttpError, rpcCodes } from './protocol/errors.ts';
import { createResources } from './resources/resources.ts';
import { createRunningCalls } from './protocol/running-calls.ts';
import { createServerFactory, serverInfo } from './protocol/server.ts';
import { createPlaces, type Places } from './sessions/places.ts';
import { createSessions, type Sessions } from './sessions/sessions.ts';
import { createGetHandler } from './notifications/get.ts';
import { createStreamSet, type StreamSet } from './sessions/stream-set.ts';
import { createSubscriptions } from './resources/subscriptions.ts';
import { createToolNames, resolveToolCalls } from './tools/tool-names.ts';
import { createTools } from './tools/tools.ts';
import { createApprovalTools } from './views/approval-tools.ts';
import { createWaitForEventsTool, describeWaits } from './tools/wait-for-events-tool.ts';

export interface McpTransport {
  /** Serves /mcp and calls `next` for other paths. Mount it before body parsers. */
  middleware: Middleware;
  /** Ends all notification streams. Running calls are answered; calls that wait stop waiting. */
  close(): Promise<void>;
}

type Handler = (ctx: Context, actor: Actor, requestId: string) => Promise<void>;

const path = '/mcp';
/** How long a call of a stateless client waits for a decision on the approval page, in ms. Many clients wait 60 s for a response. */
const maxStatelessWaitMs = 25_000;

/**
 * The MCP server over the operation catalogue. Any process can serve any request.
 * @throws {Error} when a tool or resource of the catalogue has no valid schema.
 */
export function createMcpTransport(parts: McpParts): McpTransport {
  const { tokens, logger, public_url, heartbeat_ms = 15_000 } = parts;
  const guard = createHostGuard(public_url, parts.allowed_hosts);
  const authorizer = createAuthorizer(tokens, public_url);
  const log = (message: string, error: unknown) => logger.debug({ err: error }, message);
  const sessions = createSessions(parts.sessions, parts.cursors);
  const callRegistry = {
    clientRequests: createClientRequests({ ...parts, log }),
    runningCalls: createRunningCalls({ ...parts, log }),
  };
  const streams = createStreamSet(sessions, logger, 4 * heartbeat_ms);
  const handlers = createHandlers(parts, {
    features: createFeatures(parts),
    authorizer,
    sessions,
    places: createPlaces(parts.sessions, parts.cursors, (error) =>
      log('storing the place of a wait failed', error),
    ),
    streams,
    callRegistry,
    heartbeat_ms,
  });
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

function createFeatures(parts: McpParts): McpFeatures {
  const { tools = [], resources = [], prompts: addedPrompts = [] } = parts.additions ?? {};
  const modelTools = createTools(parts.catalogue, [
    createWaitForEventsTool(parts),
    createAcknowledgeEventsTool(parts),
    ...tools,
  ]);
  const viewTools = createApprovalTools(parts).map((tool) => [tool.definition.name, tool] as const);
  return {
    tools: new Map([...modelTools, ...viewTools]),
    // Models call no tools of views.
    toolNames: createToolNames(modelTools),
    resources: createResources(parts.catalogue, resources),
    prompts: [...prompts, ...addedPrompts],
  };
}

/** What the handlers of both eras share. */
interface SharedParts {
  features: McpFeatures;
  authorizer: Authorizer;
  sessions: Sessions;
  places: Places;
  streams: StreamSet;
  callRegistry: CallRegistry;
  heartbeat_ms: number;
}

/** The handlers by HTTP method. GET and DELETE belong to the revisions with sessions. */
function createHandlers(parts: McpParts, shared: SharedParts): ReadonlyMap<string, Handler> {
  const { features, sessions, streams, callRegistry } = shared;
  const subscriptions = createSubscriptions(parts, features.resources, sessions);
  const methods = new Map([
    ...createMethods(parts, features),
    ...createSessionMethods({ subscriptions, sessions, limits: parts.limits }),
  ]);
  const makeServer = createServerFactory(parts, methods, callRegistry);
  const { realtime, limits, onSlowReader } = parts;
  const postStateful = createPostHandler({ ...shared, realtime, limits, makeServer, onSlowReader });
  const postStateless = createStateless(parts, shared);

  /** Each request says which revision it is of. */
  async function post(ctx: Context, actor: Actor, request_id: string): Promise<void> {
    const body = await readJsonBody(ctx);
    try {
      requireJsonRpc(body);
      const message = resolveToolCalls(features.toolNames, body);
      const stateless = classifyRequest(ctx, message);
      if (stateless) await postStateless(ctx, actor, { ...stateless, request_id });
      else await postStateful(ctx, actor, { message, request_id });
    } catch (error) {
      if (error instanceof McpHttpError) error.id = readRequestId(body);
      throw error;
    }
  }

  return new Map<string, Handler>([
    ['GET', createGetHandler({ ...shared, realtime, limits, onSlowReader })],
    ['POST', post],
    ['DELETE', createDeleteHandler(sessions, streams)],
  ]);
}

/** The handler of revision 2026-07-28, over the same tools, resources and prompts. */
function createStateless(parts: McpParts, shared: SharedParts) {
  const { streams, heartbeat_ms, callRegistry } = shared;
  const features = { ...shared.features, tools: describeWaits(shared.features.tools, 'sign_in') };
  const { approval_ms = maxStatelessWaitMs } = parts;
  const waiting = { ...parts, approval_ms };
  const tasks = joinTaskSources([
    createApprovalTasks(waiting, features.tools),
    createQuestionTasks(waiting, features.tools),
    ...(parts.additions?.tasks ? [parts.additions.tasks] : []),
  ]);
  return createStatelessHandler({
    ...parts,
    ...shared,
    features,
    methods: new Map([
      ...createMethods(waiting, features),
      ...createTaskMethods(tasks, parts.limits),
      ...createEventMethods(parts),
    ]),
    tasks,
    tools: features.tools,
    runningCalls: callRegistry.runningCalls,
    eventStream: createEventStream({ ...parts, streams, heartbeat_ms, serverInfo: serverInfo(parts) }),
    listen: createListen({
      ...parts,
      resources: features.resources,
      tasks,
      streams,
      heartbeat_ms,
      onSlowReader: parts.onSlowReader,
      serverInfo: serverInfo(parts),
    }),
  });
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
