import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { z } from 'zod';
import type { Caller } from './caller.ts';
import { callTool } from './call-tool.ts';
import { complete, completionOf } from './complete.ts';
import { exchanging, type Traffic } from './exchange.ts';
import { instructions } from './instructions.ts';
import type { McpParts } from './parts.ts';
import { getPrompt, type Prompt } from './prompts.ts';
import { RpcError, rpcCodes } from './refusal.ts';
import { type Resources, readResource } from './resources.ts';
import { requireSession, type Subscriptions } from './subscriptions.ts';
import type { Sessions } from './sessions.ts';
import type { Tool } from './tools.ts';

/** What of the catalogue the tool server shows. */
export interface Shown {
  tools: ReadonlyMap<string, Tool>;
  resources: Resources;
  prompts: readonly Prompt[];
}

/**
 * Makes the protocol engine of one request. The SDK's low-level server, so that there is one validator, `execute`, and one error
 * shape; everything dear (schemas, lists, the SDK's own validator) is made once.
 */
export function createServerFactory(
  parts: McpParts,
  shown: Shown,
  traffic: Traffic,
  { subscriptions, sessions }: { subscriptions: Subscriptions; sessions: Pick<Sessions, 'setLogLevel'> },
): (caller: Caller) => Server {
  const { tools, resources, prompts } = shown;
  const info = {
    name: 'agent-messaging-service',
    title: 'Agent Messaging Service',
    version: parts.version,
    websiteUrl: parts.public_url,
  };
  const capabilities = {
    tools: {},
    resources: { subscribe: true },
    prompts: {},
    completions: {},
    logging: {},
  };
  const jsonSchemaValidator = new AjvJsonSchemaValidator();
  const definitions = [...tools.values()].map((tool) => tool.definition);
  const promptDefinitions = prompts.map((prompt) => prompt.definition);

  return function makeServer(caller) {
    const server = new Server(info, {
      capabilities,
      instructions: instructions(caller.actor.handle),
      jsonSchemaValidator,
    });
    // Cancellations go to the call at whatever process; by a message beside it the SDK would leave a POST without an answer.
    server.removeNotificationHandler('notifications/cancelled');
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way
    server.onerror = (error) =>
      parts.logger.debug({ err: error, request_id: caller.request_id }, 'MCP message');

    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: definitions }));
    server.setRequestHandler(anyCall, (request, extra) => {
      const { name, arguments: given = {} } = parsed(CallToolRequestSchema, request).params;
      const tool = tools.get(name);
      if (!tool) throw new RpcError(rpcCodes.invalidParams, `Unknown tool: ${name.slice(0, 80)}`);
      return exchanging(traffic, { server, caller, extra }, (exchange) =>
        callTool(parts, caller, { tool, given, exchange }),
      );
    });
    server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: resources.resources }));
    server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
      resourceTemplates: resources.templates,
    }));
    server.setRequestHandler(anyRead, (request) =>
      readResource(parts, caller, resources, parsed(ReadResourceRequestSchema, request).params.uri),
    );
    server.setRequestHandler(anySubscription, async (request) => {
      await subscriptions.add(caller, parsed(SubscribeRequestSchema, request).params.uri);
      return {};
    });
    server.setRequestHandler(anyUnsubscription, async (request) => {
      await subscriptions.remove(caller, parsed(UnsubscribeRequestSchema, request).params.uri);
      return {};
    });
    server.setRequestHandler(anyCompletion, (request) => {
      const { ref, argument } = parsed(CompleteRequestSchema, request).params;
      const face = completionOf(shown, { ref, argument: argument.name });
      return complete(parts, caller, face, argument.value);
    });
    server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: promptDefinitions }));
    server.setRequestHandler(anyPrompt, (request) =>
      getPrompt(prompts, parsed(GetPromptRequestSchema, request).params),
    );
    server.setRequestHandler(anyLevel, async (request) => {
      const { level } = parsed(SetLevelRequestSchema, request).params;
      await sessions.setLogLevel(requireSession(caller, 'A level of severity belongs'), level);
      return {};
    });
    return server;
  };
}

// Their params are looked at by the handlers: the SDK would answer wrong ones as a fault of ours, with a list of all that is wrong.
const anyCall = z.object({ method: z.literal('tools/call'), params: z.unknown().optional() });
const anyRead = z.object({ method: z.literal('resources/read'), params: z.unknown().optional() });
const anySubscription = z.object({
  method: z.literal('resources/subscribe'),
  params: z.unknown().optional(),
});
const anyUnsubscription = z.object({
  method: z.literal('resources/unsubscribe'),
  params: z.unknown().optional(),
});
const anyPrompt = z.object({ method: z.literal('prompts/get'), params: z.unknown().optional() });
const anyLevel = z.object({ method: z.literal('logging/setLevel'), params: z.unknown().optional() });
const anyCompletion = z.object({ method: z.literal('completion/complete'), params: z.unknown().optional() });

/** @throws {RpcError} -32602, with the first thing that is wrong. */
function parsed<T>(schema: z.ZodType<T>, request: unknown): T {
  const result = schema.safeParse(request);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new RpcError(rpcCodes.invalidParams, `Invalid ${issue?.path.join('.')}: ${issue?.message}`);
}
