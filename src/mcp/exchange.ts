import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Caller } from './caller.ts';
import type { ClientAnswer } from './client-answer.ts';
import type { OutboundMessage, OutboundRequest, Questions } from './questions.ts';
import type { RunningCalls } from './running-calls.ts';

/** What a call can do while it runs, besides being answered. */
export interface Exchange {
  /** Aborts when nobody waits for the answer any more: taken back, connection gone, process stopping. */
  signal: AbortSignal;
  /**
   * Asks the client and waits for its answer; undefined when there is none in time. Absent when the client cannot be asked: it
   * has no session, or takes no event stream.
   */
  ask?(request: Omit<OutboundRequest, 'send'>): Promise<ClientAnswer | undefined>;
  /** Tells the client something while the call runs. Absent when it takes no event stream. */
  notify?(method: string, params: Record<string, unknown>): Promise<void>;
  /**
   * Reports how far the call is (MCP, Progress); each time further than before. Absent when the client does not ask for it, or
   * takes no event stream.
   */
  progress?(done: number, total: number): void;
}

/** What all calls of this process share. */
export interface Traffic {
  questions: Questions;
  calls: RunningCalls;
}

/** Of what the SDK hands to a request's handler. */
interface Extra {
  requestId: RequestId;
  signal: AbortSignal;
  _meta?: { progressToken?: string | number | undefined } | undefined;
}

/** Runs a call with what it can do meanwhile. A call that was taken back is not answered, where HTTP lets us. */
export async function exchanging<T>(
  { questions, calls }: Traffic,
  { server, caller, extra }: { server: Server; caller: Caller; extra: Extra },
  run: (exchange: Exchange) => Promise<T>,
): Promise<T> {
  const { actor, session, streams } = caller;
  const of = session && { session: session.key, agent_id: actor.agent_id };
  const call = calls.begin(of, extra.requestId, extra.signal);
  const send = async (message: OutboundMessage) =>
    server.transport?.send(message, { relatedRequestId: extra.requestId });
  const { _meta: meta } = extra;
  const progressToken = meta?.progressToken;
  const report = (progress: number, total: number) => {
    const params = { progressToken, progress, total };
    send({ jsonrpc: '2.0', method: 'notifications/progress', params }).catch((cause: unknown) =>
      server.onerror?.(new Error('a report could not be sent', { cause })),
    );
  };
  try {
    return await run({
      signal: call.signal,
      ...(streams && { notify: (method, params) => send({ jsonrpc: '2.0', method, params }) }),
      ...(streams && progressToken !== undefined && { progress: report }),
      ...(streams && of && { ask: (request) => questions.ask(of, { ...request, send }) }),
    });
  } finally {
    call.end();
    // The stream ends without an answer (MCP, Cancellation). One JSON body has to come all the same.
    if (call.cancelled() && streams) await server.close();
  }
}
