import type { Actor } from '../../../domain/auth/actor.ts';
import type { ClientInfo } from '../sessions/client-info.ts';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { type LoggingLevel, LoggingLevelSchema, type RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { ClientResponse } from '../approvals/client-response.ts';
import type { ServerMessage, ClientRequest, ClientRequests } from '../approvals/client-requests.ts';
import type { RunningCalls } from './running-calls.ts';

/** What a call can do while it runs, besides being answered. */
export interface Exchange {
  /** Aborts when nobody waits for the answer any more: taken back, connection gone, process stopping. */
  signal: AbortSignal;
  /**
   * Asks the client and waits for its answer; undefined when there is none in time. Absent when the client cannot be asked: it
   * has no session, or takes no event stream.
   */
  ask?(request: Omit<ClientRequest, 'send'>): Promise<ClientResponse | undefined>;
  /** Tells the client something while the call runs. Absent when it takes no event stream. */
  notify?(method: string, params: Record<string, unknown>): Promise<void>;
  /**
   * Reports how far the call is (MCP, Progress); each time further than before. Absent when the client does not ask for it, or
   * takes no event stream.
   */
  progress?(done: number, total: number): void;
  /** Tells the person who looks after the client what happens (MCP, Logging). Absent as `notify`; silent below what was asked for. */
  log?(level: LoggingLevel, logger: string, data: object): void;
}

/** What all calls of this process share. */
export interface CallRegistry {
  clientRequests: ClientRequests;
  runningCalls: RunningCalls;
}

/** Of what the SDK hands to a request's handler. */
interface Extra {
  requestId: RequestId;
  signal: AbortSignal;
  _meta?: { progressToken?: string | number | undefined } | undefined;
}

/** A request on its way: who sent it, and the engine that answers it. */
export interface IncomingCall {
  server: Server;
  caller: Caller;
  extra: Extra;
}

/** Runs a call with what it can do meanwhile. A call that was taken back is not answered, where HTTP lets us. */
export async function withExchange<T>(
  { clientRequests, runningCalls }: CallRegistry,
  { server, caller, extra }: IncomingCall,
  run: (exchange: Exchange) => Promise<T>,
): Promise<T> {
  const { actor, session, isStreaming } = caller;
  const of = session && { session: session.key, agent_id: actor.agent_id };
  const call = runningCalls.begin(of, extra.requestId, extra.signal);
  const send = async (message: ServerMessage) =>
    server.transport?.send(message, { relatedRequestId: extra.requestId });
  const { _meta: meta } = extra;
  const progressToken = meta?.progressToken;
  const tell = (method: string, params: Record<string, unknown>) =>
    void send({ jsonrpc: '2.0', method, params }).catch((cause: unknown) =>
      server.onerror?.(new Error('a report could not be sent', { cause })),
    );
  const log = (level: LoggingLevel, logger: string, data: object) => {
    if (wantsLogLevel(session?.client.log_level, level))
      tell('notifications/message', { level, logger, data });
  };
  try {
    return await run({
      get signal() {
        return call.signal;
      },
      ...(isStreaming && { log, notify: (method, params) => send({ jsonrpc: '2.0', method, params }) }),
      ...(isStreaming &&
        progressToken !== undefined && {
          progress: (progress, total) => tell('notifications/progress', { progressToken, progress, total }),
        }),
      ...(isStreaming && of && { ask: (request) => clientRequests.ask(of, { ...request, send }) }),
    });
  } finally {
    call.end();
    // The stream ends without an answer (MCP, Cancellation). One JSON body has to come all the same.
    if (call.isCancelled() && isStreaming) await server.close();
  }
}

const logLevels = LoggingLevelSchema.options;

/** Whoever has not said so wants none: most calls then stay one JSON body. */
function wantsLogLevel(least: LoggingLevel | undefined, level: LoggingLevel): boolean {
  return least !== undefined && logLevels.indexOf(level) >= logLevels.indexOf(least);
}

/** Who asks, and the request that carries it. */
export interface Caller {
  actor: Actor;
  request_id: string;
  /** Undefined for a request that belongs to none. */
  session?: { key: string; client: ClientInfo } | undefined;
  /** Whether the answer is an event stream, in which more can be said before it. */
  isStreaming: boolean;
  /** Has something done once the answer has left. */
  onResponseSent(then: () => void): void;
}
