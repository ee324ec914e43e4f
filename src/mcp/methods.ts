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
import type { Caller } from './caller.ts';
import { callTool } from './call-tool.ts';
import { complete, completionOf } from './complete.ts';
import { type CallOnTheWire, exchanging, type Traffic } from './exchange.ts';
import type { McpParts } from './parts.ts';
import { getPrompt } from './prompts.ts';
import { RpcError, rpcCodes } from './refusal.ts';
import { readResource } from './resources.ts';
import type { Shown } from './shown.ts';
import type { Sessions } from './sessions.ts';
import { requireSession, type Subscriptions } from './subscriptions.ts';

/** Answers one request of a caller. @throws {RpcError} */
type Method = (request: object, call: CallOnTheWire) => Result | Promise<Result>;

/** A request that fits its schema, as that gives it back. */
type Answering<Request> = (request: Request, caller: Caller, call: CallOnTheWire) => Result | Promise<Result>;

/**
 * What the tool server does at which method; the rest (initialize, ping) the SDK does by itself. Params are looked at here: the
 * SDK would answer wrong ones as a fault of ours, with a list of all that is wrong.
 */
export function methodsOf(
  parts: McpParts,
  shown: Shown,
  traffic: Traffic,
  { subscriptions, sessions }: { subscriptions: Subscriptions; sessions: Pick<Sessions, 'setLogLevel'> },
): ReadonlyMap<string, Method> {
  const { tools, resources, prompts } = shown;
  const toolList = { tools: [...tools.values()].map((tool) => tool.definition) };
  const resourceList = { resources: resources.resources };
  const templateList = { resourceTemplates: resources.templates };
  const promptList = { prompts: prompts.map((prompt) => prompt.definition) };

  return new Map<string, Method>([
    ['tools/list', answering(ListToolsRequestSchema, () => toolList)],
    [
      'tools/call',
      answering(CallToolRequestSchema, ({ params: { name, arguments: given = {} } }, caller, call) => {
        const tool = tools.get(name);
        if (!tool) throw new RpcError(rpcCodes.invalidParams, `Unknown tool: ${name.slice(0, 80)}`);
        return exchanging(traffic, call, (exchange) => callTool(parts, caller, { tool, given, exchange }));
      }),
    ],
    ['resources/list', answering(ListResourcesRequestSchema, () => resourceList)],
    ['resources/templates/list', answering(ListResourceTemplatesRequestSchema, () => templateList)],
    [
      'resources/read',
      answering(ReadResourceRequestSchema, ({ params }, caller) =>
        readResource(parts, caller, resources, params.uri),
      ),
    ],
    [
      'resources/subscribe',
      answering(SubscribeRequestSchema, async ({ params }, caller) => {
        await subscriptions.add(caller, params.uri);
        return {};
      }),
    ],
    [
      'resources/unsubscribe',
      answering(UnsubscribeRequestSchema, async ({ params }, caller) => {
        await subscriptions.remove(caller, params.uri);
        return {};
      }),
    ],
    [
      'completion/complete',
      answering(CompleteRequestSchema, ({ params: { ref, argument } }, caller) => {
        const face = completionOf(shown, { ref, argument: argument.name });
        return complete(parts, caller, face, argument.value);
      }),
    ],
    ['prompts/list', answering(ListPromptsRequestSchema, () => promptList)],
    ['prompts/get', answering(GetPromptRequestSchema, ({ params }) => getPrompt(prompts, params))],
    [
      'logging/setLevel',
      answering(SetLevelRequestSchema, async ({ params: { level } }, caller) => {
        await sessions.setLogLevel(requireSession(caller, 'A level of severity belongs'), level);
        return {};
      }),
    ],
  ]);
}

/** @throws {RpcError} -32602, with the first thing that is wrong. */
function answering<Request>(schema: z.ZodType<Request>, answer: Answering<Request>): Method {
  return (request, call) => {
    const result = schema.safeParse(request);
    if (result.success) return answer(result.data, call.caller, call);
    const [issue] = result.error.issues;
    throw new RpcError(rpcCodes.invalidParams, `Invalid ${issue?.path.join('.')}: ${issue?.message}`);
  };
}
