import type { CallerName } from '../history.ts';
import { type CallSocket, createCallSocket } from '../transports/call-socket.ts';
import { type Caller, call, type CallOptions, callTool } from './call.ts';
import type { Agent } from './population.ts';

/** The operations that the load calls over several transports, as REST has them. `{name}` is a field of the input. */
const paths: Record<string, [method: CallOptions['method'], path: string]> = {
  send_message: ['POST', '/threads/{thread_id}/messages'],
  send_messages: ['POST', '/threads/{thread_id}/messages:batch'],
  mark_read: ['POST', '/threads/{thread_id}/read'],
  get_inbox: ['GET', '/inbox'],
  set_inbox: ['PUT', '/inbox'],
  claim_messages: ['POST', '/inbox/leases'],
  renew_lease: ['POST', '/inbox/leases/{lease_id}/renew'],
  acknowledge_message: ['POST', '/inbox/leases/{lease_id}/acknowledge'],
  acknowledge_messages: ['POST', '/inbox/leases:acknowledge'],
  release_message: ['POST', '/inbox/leases/{lease_id}/release'],
  list_dead_items: ['GET', '/inbox/dead'],
  redrive_dead_item: ['POST', '/inbox/dead/{item_id}/redrive'],
};

/** Calls of one agent over every transport. */
export interface Callers extends Record<CallerName, Caller> {
  /** Cuts the WebSocket. */
  cut(): void;
}

export function createCallers(base: string, agent: Agent): Callers {
  const socket: CallSocket = createCallSocket(base, agent);
  return {
    REST(operation, input, options = {}) {
      const [method, template] = paths[operation] ?? ['POST', `/${operation}`];
      const body = { ...input };
      const path = template.replaceAll(/\{(\w+)\}/g, (_field, name: string) => {
        const value = String(body[name]);
        delete body[name];
        return value;
      });
      const token = agent.tokens.api;
      return call({ base, token, method, path, ...options, ...(method !== 'GET' && { body }) });
    },
    tool: (operation, input, options) =>
      callTool({ base, token: agent.tokens.mcp, ...options }, operation, input),
    call: socket.call,
    cut: socket.cut,
  };
}
