import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { type Caller, type CallRegistry, withExchange } from './exchange.ts';
import { instructions } from '../prompts/instructions.ts';
import type { Method } from './methods.ts';
import type { McpParts } from '../parts.ts';
import { RpcError, rpcCodes, toRpcError } from './errors.ts';
import { viewsExtension } from '../views/views-extension.ts';

/**
 * Creates an SDK server per request of a revision until 2025-11-25. The low-level `Server` leaves validation and error bodies to `execute`. Schemas, lists,
 * methods and the JSON schema validator are created once.
 */
export function createServerFactory(
  parts: McpParts,
  methods: ReadonlyMap<string, Method>,
  callRegistry: CallRegistry,
): (caller: Caller) => Server {
  const info = serverInfo(parts);
  const capabilities = {
    tools: {},
    resources: { subscribe: true },
    prompts: {},
    completions: {},
    logging: {},
    extensions: { [viewsExtension]: {} },
  };
  const jsonSchemaValidator = new AjvJsonSchemaValidator();

  return function makeServer(caller) {
    const server = new Server(info, {
      capabilities,
      instructions: instructions(caller.actor.handle, 'session'),
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
      try {
        return await method(request, {
          caller,
          withExchange: (run) => withExchange(callRegistry, { server, caller, extra }, run),
        });
      } catch (error) {
        throw toRpcError(parts.logger, caller, error);
      }
    };
    return server;
  };
}

/** How the service names itself to clients of every revision (MCP, Lifecycle: serverInfo). */
export function serverInfo({ version, public_url }: Pick<McpParts, 'version' | 'public_url'>) {
  return {
    name: 'agent-messaging-service',
    title: 'Agent Messaging Service',
    version,
    websiteUrl: public_url,
  };
}
