import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { Caller } from './call.ts';
import { callTool } from './call-tool.ts';
import { instructions } from './instructions.ts';
import type { McpParts } from './parts.ts';
import { type Resources, readResource } from './resources.ts';
import type { Tool } from './tools.ts';

/** What of the catalogue the tool server shows. */
export interface Shown {
  tools: ReadonlyMap<string, Tool>;
  resources: Resources;
}

/**
 * Makes the protocol engine of one request. The SDK's low-level server, so that there is one validator, `execute`, and one error
 * shape; everything dear (schemas, lists, the SDK's own validator) is made once.
 */
export function createServerFactory(
  parts: McpParts,
  { tools, resources }: Shown,
): (caller: Caller) => Server {
  const info = {
    name: 'agent-messaging-service',
    title: 'Agent Messaging Service',
    version: parts.version,
    websiteUrl: parts.public_url,
  };
  const capabilities = { tools: {}, resources: {} };
  const jsonSchemaValidator = new AjvJsonSchemaValidator();
  const definitions = [...tools.values()].map((tool) => tool.definition);

  return function makeServer(caller) {
    const server = new Server(info, {
      capabilities,
      instructions: instructions(caller.actor.handle),
      jsonSchemaValidator,
    });
    // A request is never cancelled by a message beside it: it would leave the POST of both without an answer.
    server.removeNotificationHandler('notifications/cancelled');
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way
    server.onerror = (error) =>
      parts.logger.debug({ err: error, request_id: caller.request_id }, 'MCP message');

    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: definitions }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
      const tool = tools.get(params.name);
      if (!tool) throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${params.name.slice(0, 80)}`);
      return callTool(parts, caller, tool, params.arguments ?? {});
    });
    server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: resources.resources }));
    server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
      resourceTemplates: resources.templates,
    }));
    server.setRequestHandler(ReadResourceRequestSchema, ({ params }) =>
      readResource(parts, caller, resources, params.uri),
    );
    return server;
  };
}
