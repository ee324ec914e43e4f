import { randomBytes } from 'node:crypto';
import type { JSONRPCNotification, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { type ClientResponse, shortenResponse } from './client-response.ts';
import { type BusLog, listenOnTopic, type McpBus, publishMessage } from '../protocol/bus.ts';

/** To whom a request of ours goes, and who alone may answer it. */
export interface SessionOwner {
  /** `key` of the session. */
  session: string;
  agent_id: string;
}

/** A request or notification of ours. */
export type ServerMessage = JSONRPCRequest | JSONRPCNotification;

export interface ClientRequest {
  method: string;
  params: Record<string, unknown>;
  timeout_ms: number;
  /** Gives the question up. */
  signal: AbortSignal;
  send(message: ServerMessage): Promise<void>;
}

export interface ClientRequests {
  /**
   * Sends a request to a client and waits for its answer. Never rejects for what the client does.
   * @returns undefined when there is none: in time, or before `signal`. The client is told that nobody waits.
   */
  ask(of: SessionOwner, request: ClientRequest): Promise<ClientResponse | undefined>;
  /** Takes an answer that arrived here to the process that asked. One that nobody waits for is dropped, and nobody told. */
  onResponse(by: SessionOwner, response: unknown): void;
  /** Gives all questions of this process up. */
  close(): void;
}

const nodeBytes = 9;
const secretBytes = 18;
/** `<node>.<secret>`, both base64url. */
const requestIdPattern = /^([\w-]{12})\.[\w-]{24}$/;

const responseSchema = z.object({
  id: z.string().regex(requestIdPattern),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});
const routedSchema = responseSchema.extend({ session: z.string(), agent_id: z.string() });

interface Pending {
  client: SessionOwner;
  settle(answer: ClientResponse | undefined): void;
}

/**
 * Requests of this process to clients (MCP, Elicitation). Clients answer by a POST that may reach any process: the id of a request
 * names the process that waits, and has a part that nobody guesses. A lost answer is as good as none.
 */
export function createClientRequests(bus: McpBus, log: BusLog): ClientRequests {
  const node = randomBytes(nodeBytes).toString('base64url');
  const pending = new Map<string, Pending>();
  const listening = listenOnTopic(bus, {
    topic: topicOf(node),
    schema: routedSchema,
    onMessage: deliver,
    log,
  });

  function deliver({ id, session, agent_id, result, error }: z.infer<typeof routedSchema>): void {
    const waiting = pending.get(id);
    if (waiting?.client.session !== session || waiting.client.agent_id !== agent_id) return;
    waiting.settle({ result, error });
  }

  return {
    ask(client, { method, params, timeout_ms, signal, send }) {
      const id = `${node}.${randomBytes(secretBytes).toString('base64url')}`;
      return new Promise((resolve) => {
        const post = (message: ServerMessage) =>
          send(message).catch((error: unknown) => log('a client could not be reached', error));
        const settle = (answer: ClientResponse | undefined) => {
          if (!pending.delete(id)) return;
          clearTimeout(timer);
          signal.removeEventListener('abort', giveUp);
          resolve(answer);
        };
        const giveUp = () => {
          void post(cancellation(id));
          settle(undefined);
        };
        const timer = setTimeout(giveUp, timeout_ms);
        pending.set(id, { client, settle });
        if (signal.aborted) {
          settle(undefined);
          return;
        }
        signal.addEventListener('abort', giveUp, { once: true });
        void post({ jsonrpc: '2.0', id, method, params });
      });
    },
    onResponse(by, response) {
      const read = responseSchema.safeParse(response);
      if (!read.success) return;
      const { id, ...given } = read.data;
      const routed = { ...by, id, ...shortenResponse(given) };
      const [, owner = ''] = requestIdPattern.exec(id) ?? [];
      if (owner === node) {
        deliver(routed);
        return;
      }
      publishMessage(bus, { topic: topicOf(owner), body: JSON.stringify(routed) }, log);
    },
    close() {
      for (const { settle } of pending.values()) settle(undefined);
      void listening.stop();
    },
  };
}

function topicOf(node: string): string {
  return `node/${node}`;
}

function cancellation(requestId: string): ServerMessage {
  const params = { requestId, reason: 'nobody waits for the answer any more' };
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params };
}
