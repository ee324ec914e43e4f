import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { Caller, CallRegistry } from './exchange.ts';
import { instructions } from '../prompts/instructions.ts';
import { createMethods, type McpFeatures } from './methods.ts';
import type { McpParts } from '../parts.ts';
import { RpcError, rpcCodes } from './errors.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Subscriptions } from '../resources/subscriptions.ts';

/**
 * Makes the protocol engine of one request. The SDK's low-level server, so that there is one validator, `execute`, and one error
 * shape; everything dear (schemas, lists, methods, the SDK's own validator) is made once.
 */
export function createServerFactory(
  parts: McpParts,
  shown: McpFeatures,
  traffic: CallRegistry,
  kept: { subscriptions: Subscriptions; sessions: Pick<Sessions, 'setLogLevel'> },
): (caller: Caller) => Server {
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
  const methods = createMethods(parts, shown, traffic, kept);

  return function makeServer(caller) {
    const server = new Server(info, {
      capabilities,
      instructions: instructions(caller.actor.handle),
      jsonSchemaValidator,
    });
    // Cancellations go to the call at whatever process; by a message beside it the SDK would leave a POST without an answer.
    server.removeNotificationHandler('notifications/cancelled');
    // The SDK's own keeps the level for this one request.
    server.removeRequestHandler('logging/setLevel');
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way
    server.onerror = (error) =>
      parts.logger.debug({ err: error, request_id: caller.request_id }, 'MCP message');
    // One handler for all methods, instead of one made for each of them at each request.
    server.fallbackRequestHandler = async (request, extra) => {
      const method = methods.get(request.method);
      if (!method) throw new RpcError(rpcCodes.methodNotFound, 'Method not found');
      return method(request, { server, caller, extra });
    };
    return server;
  };
}
