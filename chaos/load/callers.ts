import type { Client } from '../../packages/client/src/client.ts';
import type { Route } from '../../packages/client/src/calls/types.ts';
import { routes } from '../../packages/client/src/generated/nouns.ts';
import type { CallerName } from '../history.ts';
import { createCallSocket } from '../transports/call-socket.ts';
import { type Caller, createSingleAttempts, readOutcome } from './call.ts';
import type { Agent } from './population.ts';

const { messages, threads, contacts, inbox, tasks, webhooks } = routes;

/** The operations that the load calls, as REST has them. */
const routeOf: Record<string, Route> = {
  send_message: messages.send,
  send_messages: messages.sendBatch,
  mark_read: threads.markRead,
  create_thread: threads.create,
  add_member: threads.addMember,
  remove_member: threads.removeMember,
  request_contact: contacts.request,
  create_webhook: webhooks.create,
  create_task: tasks.create,
  get_task: tasks.get,
  update_task: tasks.update,
  cancel_task: tasks.cancel,
  get_inbox: inbox.get,
  set_inbox: inbox.set,
  claim_messages: inbox.claimMessages,
  renew_lease: inbox.renewLease,
  acknowledge_message: inbox.acknowledgeMessage,
  acknowledge_messages: inbox.acknowledgeMessages,
  release_message: inbox.releaseMessage,
  list_dead_items: inbox.listDeadItems,
  redrive_dead_item: inbox.redriveDeadItem,
};

/** Calls of one agent over every transport. */
export interface Callers extends Record<CallerName, Caller> {
  client: Client;
  /** Cuts the WebSocket. */
  cut(): void;
}

export function createCallers(base: string, agent: Agent): Callers {
  const socket = createCallSocket(base, agent);
  const { client, call, callTool } = createSingleAttempts(base, agent);
  return {
    async REST(operation, input, { key, ...options } = {}) {
      const route = routeOf[operation];
      if (!route) return { refused: `${operation} has no route` };
      return readOutcome(call(route, input, { ...options, idempotencyKey: key }));
    },
    tool: callTool,
    async call(...parameters) {
      const outcome = await socket.call(...parameters);
      return 'doubt' in outcome ? { doubt: `${outcome.doubt} (WebSocket)` } : outcome;
    },
    client,
    cut: socket.cut,
  };
}
