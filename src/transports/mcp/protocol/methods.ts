import { getPrompt } from '../prompts/prompts.ts';
import { readResource } from '../resources/resources.ts';
import type { ToolNames } from '../tools/tool-names.ts';
import type { Tool } from '../tools/tools.ts';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  type Result,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { z } from 'zod';
import type { RateLimits } from '../../../operations/rate-limits.ts';
import type { Caller, IncomingCall } from './exchange.ts';
import { callTool } from '../tools/call-tool.ts';
import { completeArgument, findCompletion } from '../prompts/completion.ts';
import type { McpParts } from '../parts.ts';
import { isPermitted, type McpFeatures } from './required-scopes.ts';
import { parseRequest, RpcError, rpcCodes } from './errors.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { requireSession, type Subscriptions } from '../resources/subscriptions.ts';
import { defineForViews, readView } from '../views/views.ts';

/** Handles one request. @throws {RpcError} */
export type Method = (request: object, call: IncomingCall) => Result | Promise<Result>;

/** Handles a request that its schema has parsed. */
type MethodHandler<Request> = (
  request: Request,
  caller: Caller,
  call: IncomingCall,
) => Result | Promise<Result>;

/** Handlers by method, for every revision; the SDK handles initialize, discover and ping. */
export function createMethods(parts: McpParts, features: McpFeatures): ReadonlyMap<string, Method> {
  const { tools, toolNames, resources, prompts } = features;
  const resourceList = { resources: resources.resources };
  const templateList = { resourceTemplates: resources.templates };
  const promptList = { prompts: prompts.map((prompt) => prompt.definition) };

  return new Map<string, Method>([
    ['tools/list', withSchema(ListToolsRequestSchema, (_request, caller) => listTools(tools, caller))],
    [
      'tools/call',
      withSchema(CallToolRequestSchema, ({ params: { name, arguments: args = {} } }, caller, call) => {
        const tool = tools.get(name);
        if (!tool || !isFor(tool, caller))
          throw unknownTool(toolNames, name, listAllowed(tools, { actor: caller.actor }));
        return call.withExchange((exchange) => callTool(parts, caller, { tool, args, exchange }));
      }),
    ],
    ['resources/list', withSchema(ListResourcesRequestSchema, () => resourceList)],
    ['resources/templates/list', withSchema(ListResourceTemplatesRequestSchema, () => templateList)],
    [
      'resources/read',
      withSchema(
        ReadResourceRequestSchema,
        async ({ params: { uri } }, caller) =>
          (await readView(uri)) ?? readResource(parts, caller, resources, uri),
      ),
    ],
    [
      'completion/complete',
      withSchema(CompleteRequestSchema, ({ params: { ref, argument } }, caller) => {
        const source = findCompletion(features, { ref, argument: argument.name });
        return completeArgument(parts, caller, source, argument.value);
      }),
    ],
    ['prompts/list', withSchema(ListPromptsRequestSchema, () => promptList)],
    [
      'prompts/get',
      withSchema(GetPromptRequestSchema, ({ params }, _caller, call) =>
        call.withExchange((exchange) => getPrompt(prompts, params, exchange)),
      ),
    ],
  ]);
}

/** The methods of sessions, for revisions until 2025-11-25. */
export function createSessionMethods({
  subscriptions,
  sessions,
  limits,
}: {
  limits: RateLimits;
  subscriptions: Subscriptions;
  sessions: Pick<Sessions, 'setLogLevel'>;
}): ReadonlyMap<string, Method> {
  return new Map<string, Method>([
    [
      'resources/subscribe',
      withSchema(SubscribeRequestSchema, async ({ params }, caller) => {
        await subscriptions.add(caller, params.uri);
        return {};
      }),
    ],
    [
      'resources/unsubscribe',
      withSchema(UnsubscribeRequestSchema, async ({ params }, caller) => {
        await limits.consume('default', caller.actor.agent_id);
        await subscriptions.remove(caller, params.uri);
        return {};
      }),
    ],
    [
      'logging/setLevel',
      withSchema(SetLevelRequestSchema, async ({ params: { level } }, caller) => {
        const { key } = requireSession(caller, 'A log level belongs');
        await limits.consume('default', caller.actor.agent_id);
        await sessions.setLogLevel(key, level);
        return {};
      }),
    ],
  ]);
}

function listTools(tools: ReadonlyMap<string, Tool>, caller: Caller): Result {
  const allowed = listAllowed(tools, caller);
  return {
    tools: caller.client?.has_views ? allowed.map(defineForViews) : allowed.map((tool) => tool.definition),
  };
}

/** The tools that the scopes of the token allow. */
function listAllowed(tools: ReadonlyMap<string, Tool>, caller: Pick<Caller, 'actor' | 'client'>): Tool[] {
  return [...tools.values()].filter((tool) => isFor(tool, caller) && isPermitted(tool, caller.actor));
}

/** Whether a client knows a tool: those of views exist only for clients that show views. */
function isFor({ isForViews }: Tool, { client }: Pick<Caller, 'client'>): boolean {
  return !isForViews || client?.has_views === true;
}

/** Names the nearest tool, or all of them. */
function unknownTool(toolNames: ToolNames, name: string, allowed: readonly Tool[]): RpcError {
  const nearest = toolNames.findNearest(name, allowed);
  const list = allowed.map(({ definition }) => definition.name).join(', ');
  const hint = nearest === undefined ? `. Tools: ${list}.` : `; did you mean ${nearest}?`;
  return new RpcError(rpcCodes.invalidParams, `Unknown tool: ${name.slice(0, 80)}${hint}`);
}

function withSchema<Request>(schema: z.ZodType<Request>, answer: MethodHandler<Request>): Method {
  return (request, call) => answer(parseRequest(schema, request), call.caller, call);
}
