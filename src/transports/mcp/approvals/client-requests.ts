import { randomBytes } from 'node:crypto';
import type { JSONRPCNotification, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { type ClientResponse, shortenResponse } from './client-response.ts';
import { type BusParts, listenOnTopic, publishForAgent } from '../protocol/bus.ts';

/** The recipient of a server request; only it may respond. */
export interface SessionOwner {
  /** `key` of the session. */
  session: string;
  agent_id: string;
}

/** A request or notification from the server to a client. */
export type ServerMessage = JSONRPCRequest | JSONRPCNotification;

/** A question to the client, such as an elicitation. */
export interface ClientQuestion {
  /** Identifies the question among those of the call. Used by revision 2026-07-28, where the client repeats the call with the response. */
  key: string;
  method: string;
  params: Record<string, unknown>;
  timeout_ms: number;
  /** Cancels the question. */
  signal: AbortSignal;
  /** Whether a response counts without the sealed state of the question. Only for questions that decide nothing. */
  isUnsealed?: true;
}

export interface ClientRequest extends Omit<ClientQuestion, 'key' | 'isUnsealed'> {
  send(message: ServerMessage): Promise<void>;
}

export interface ClientRequests {
  /**
   * Sends a request to a client and waits for the response. Client errors do not reject.
   * @returns undefined after the timeout or `signal`; the client gets a cancellation.
   */
  ask(owner: SessionOwner, request: ClientRequest): Promise<ClientResponse | undefined>;
  /** Routes a response to the process that sent the request. Unknown responses are dropped silently. @throws {McpHttpError} 429 */
  onResponse(owner: SessionOwner, response: unknown): Promise<void>;
  /** Ends all pending requests of this process without a response. */
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
  settle(response: ClientResponse | undefined): void;
}

/**
 * Server requests to clients (MCP, Elicitation). A response is a POST that may reach any process, so the request id names the
 * waiting process and has a random secret. A lost response ends in the timeout.
 */
export function createClientRequests(parts: BusParts): ClientRequests {
  const { bus, log } = parts;
  const node = randomBytes(nodeBytes).toString('base64url');
  const pending = new Map<string, Pending>();
  const unsubscribe = listenOnTopic(bus, {
    topic: topicOf(node),
    schema: routedSchema,
    onMessage: deliver,
  });

  function deliver({ id, session, agent_id, result, error }: z.infer<typeof routedSchema>): void {
    const found = pending.get(id);
    if (found?.client.session !== session || found.client.agent_id !== agent_id) return;
    found.settle({ result, error });
  }

  return {
    ask(client, { method, params, timeout_ms, signal, send }) {
      const id = `${node}.${randomBytes(secretBytes).toString('base64url')}`;
      return new Promise((resolve) => {
        const post = (message: ServerMessage) =>
          send(message).catch((error: unknown) => log('sending a message to a client failed', error));
        const settle = (response: ClientResponse | undefined) => {
          if (!pending.delete(id)) return;
          clearTimeout(timer);
          signal.removeEventListener('abort', cancel);
          resolve(response);
        };
        const cancel = () => {
          void post(cancellation(id));
          settle(undefined);
        };
        const timer = setTimeout(cancel, timeout_ms);
        pending.set(id, { client, settle });
        if (signal.aborted) {
          settle(undefined);
          return;
        }
        signal.addEventListener('abort', cancel, { once: true });
        void post({ jsonrpc: '2.0', id, method, params });
      });
    },
    async onResponse(owner, response) {
      const parsed = responseSchema.safeParse(response);
      if (!parsed.success) return;
      const { id, ...result } = parsed.data;
      const routed = { ...owner, id, ...shortenResponse(result) };
      const [, targetNode = ''] = requestIdPattern.exec(id) ?? [];
      if (targetNode === node) {
        deliver(routed);
        return;
      }
      await publishForAgent(parts, owner, { topic: topicOf(targetNode), body: JSON.stringify(routed) });
    },
    close() {
      for (const { settle } of pending.values()) settle(undefined);
      unsubscribe();
    },
  };
}

function topicOf(node: string): string {
  return `node/${node}`;
}

function cancellation(requestId: string): ServerMessage {
  const params = { requestId, reason: 'the server no longer waits for a response' };
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params };
}
