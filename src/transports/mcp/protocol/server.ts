import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { Caller, CallRegistry } from './exchange.ts';
import { instructions } from '../prompts/instructions.ts';
import { createMethods } from './methods.ts';
import type { McpFeatures } from './required-scopes.ts';
import type { McpParts } from '../parts.ts';
import { RpcError, rpcCodes } from './errors.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Subscriptions } from '../resources/subscriptions.ts';

/**
 * Creates an SDK server per request. The low-level `Server` leaves validation and error bodies to `execute`. Schemas, lists,
 * methods and the JSON schema validator are created once.
 */
export function createServerFactory(
  parts: McpParts,
  features: McpFeatures,
  callRegistry: CallRegistry,
  state: { subscriptions: Subscriptions; sessions: Pick<Sessions, 'setLogLevel'> },
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
  const methods = createMethods(parts, features, callRegistry, state);

  return function makeServer(caller) {
    const server = new Server(info, {
      capabilities,
      instructions: instructions(caller.actor.handle),
      jsonSchemaValidator,
    });
    // Cancellations are routed to the process that runs the call. The SDK's handler would leave a POST without a response.
    server.removeNotificationHandler('notifications/cancelled');
    // The SDK's handler keeps the level only for this request.
    server.removeRequestHandler('logging/setLevel');
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no event listeners
    server.onerror = (error) =>
      parts.logger.debug({ err: error, request_id: caller.request_id }, 'MCP message');
    // One handler for all methods is cheaper than registering each method on every request.
    server.fallbackRequestHandler = async (request, extra) => {
      const method = methods.get(request.method);
      if (!method) throw new RpcError(rpcCodes.methodNotFound, 'Method not found');
      return method(request, { server, caller, extra });
    };
    return server;
  };
}
