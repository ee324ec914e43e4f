import { randomBytes } from 'node:crypto';
import type { JSONRPCNotification, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { type ClientAnswer, shortAnswer } from './client-answer.ts';
import { type BusLog, listenFor, type LocalBus, tell } from './local-bus.ts';

/** To whom a request of ours goes, and who alone may answer it. */
export interface Correspondent {
  /** `key` of the session. */
  session: string;
  agent_id: string;
}

/** A request or notification of ours. */
export type OutboundMessage = JSONRPCRequest | JSONRPCNotification;

export interface OutboundRequest {
  method: string;
  params: Record<string, unknown>;
  timeout_ms: number;
  /** Gives the question up. */
  signal: AbortSignal;
  send(message: OutboundMessage): Promise<void>;
}

export interface Questions {
  /**
   * Sends a request to a client and waits for its answer. Never rejects for what the client does.
   * @returns undefined when there is none: in time, or before `signal`. The client is told that nobody waits.
   */
  ask(of: Correspondent, request: OutboundRequest): Promise<ClientAnswer | undefined>;
  /** Takes an answer that arrived here to the process that asked. One that nobody waits for is dropped, and nobody told. */
  answer(by: Correspondent, response: unknown): void;
  /** Gives all questions of this process up. */
  close(): void;
}

const nodeBytes = 9;
const secretBytes = 18;
/** `<node>.<secret>`, both base64url. */
const questionId = /^([\w-]{12})\.[\w-]{24}$/;

const responseSchema = z.object({
  id: z.string().regex(questionId),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});
const routedSchema = responseSchema.extend({ session: z.string(), agent_id: z.string() });

interface Pending {
  of: Correspondent;
  settle(answer: ClientAnswer | undefined): void;
}

/**
 * Requests of this process to clients (MCP, Elicitation). Clients answer by a POST that may reach any process: the id of a request
 * names the process that waits, and has a part that nobody guesses. A lost answer is as good as none.
 */
export function createQuestions(bus: LocalBus, log: BusLog): Questions {
  const node = randomBytes(nodeBytes).toString('base64url');
  const pending = new Map<string, Pending>();
  const listening = listenFor(bus, { topic: topicOf(node), schema: routedSchema, take: deliver, log });

  function deliver({ id, session, agent_id, result, error }: z.infer<typeof routedSchema>): void {
    const waiting = pending.get(id);
    if (waiting?.of.session !== session || waiting.of.agent_id !== agent_id) return;
    waiting.settle({ result, error });
  }

  return {
    ask(of, { method, params, timeout_ms, signal, send }) {
      const id = `${node}.${randomBytes(secretBytes).toString('base64url')}`;
      return new Promise((resolve) => {
        const post = (message: OutboundMessage) =>
          send(message).catch((error: unknown) => log('a client could not be reached', error));
        const settle = (answer: ClientAnswer | undefined) => {
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
        pending.set(id, { of, settle });
        if (signal.aborted) {
          settle(undefined);
          return;
        }
        signal.addEventListener('abort', giveUp, { once: true });
        void post({ jsonrpc: '2.0', id, method, params });
      });
    },
    answer(by, response) {
      const read = responseSchema.safeParse(response);
      if (!read.success) return;
      const { id, ...given } = read.data;
      const routed = { ...by, id, ...shortAnswer(given) };
      const [, owner = ''] = questionId.exec(id) ?? [];
      if (owner === node) {
        deliver(routed);
        return;
      }
      tell(bus, { topic: topicOf(owner), body: JSON.stringify(routed) }, log);
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

function cancellation(requestId: string): OutboundMessage {
  const params = { requestId, reason: 'nobody waits for the answer any more' };
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params };
}
