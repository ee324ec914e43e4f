import type { Context } from 'koa';
import type { Actor } from '../../../../packages/core/src/domain/auth/actor.ts';
import type { ClientInfo } from '../sessions/client-info.ts';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { type LoggingLevel, LoggingLevelSchema, type RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { ClientResponse } from '../approvals/client-response.ts';
import type { ServerMessage, ClientQuestion, ClientRequests } from '../approvals/client-requests.ts';
import type { Place } from '../sessions/places.ts';
import type { RunningCalls } from './running-calls.ts';

/** What a running call can exchange with its client. */
export interface Exchange {
  /** Aborts when the client no longer waits: the call was cancelled, the connection closed, or the process stops. */
  signal: AbortSignal;
  /**
   * Asks the client and waits for the response; undefined after the timeout, and in revision 2026-07-28 as long as the client has not
   * repeated the call with a response. Absent if the client cannot be asked: in older revisions without a session or an event stream.
   */
  ask?(question: ClientQuestion): Promise<ClientResponse | undefined>;
  /** The keys of the questions that the client has answered in earlier rounds of this call. */
  answered?: readonly string[];
  /** Says that the call continues as a task with this id, if it fails now. Absent if the client does not support tasks. */
  defer?(id: string): void;
  /** Says that the call has begun a task with this id, which is its result. Absent if the client does not support tasks. */
  continueAs?(id: string): void;
  /** Sends a notification. Absent without an event stream. */
  notify?(method: string, params: Record<string, unknown>): Promise<void>;
  /**
   * Reports progress (MCP, Progress); `done` must increase with each call. Absent without a progress token or an event stream.
   */
  progress?(done: number, total: number): void;
  /** Sends a log message if the session asked for its level (MCP, Logging). Absent without an event stream. */
  log?(level: LoggingLevel, logger: string, data: object): void;
}

/** Shared state of all calls of this process. */
export interface CallRegistry {
  clientRequests: ClientRequests;
  runningCalls: RunningCalls;
}

/** The used part of the SDK's handler argument. */
interface Extra {
  requestId: RequestId;
  signal: AbortSignal;
  _meta?: { progressToken?: string | number | undefined } | undefined;
}

/** A request with its caller. */
export interface IncomingCall {
  caller: Caller;
  /** Runs a call that can exchange messages with its client. */
  withExchange<T>(run: (exchange: Exchange) => Promise<T>): Promise<T>;
}

/** Runs a call of a revision until 2025-11-25 with its exchange. A cancelled call gets no response (MCP, Cancellation). */
export async function withExchange<T>(
  { clientRequests, runningCalls }: CallRegistry,
  { server, caller, extra }: { server: Server; caller: Caller; extra: Extra },
  run: (exchange: Exchange) => Promise<T>,
): Promise<T> {
  const { actor, session, isStreaming } = caller;
  const owner = session && { session: session.key, agent_id: actor.agent_id };
  const call = runningCalls.begin(owner, extra.requestId, extra.signal);
  const send = async (message: ServerMessage) =>
    server.transport?.send(message, { relatedRequestId: extra.requestId });
  const { _meta: meta } = extra;
  const sendNotification = (method: string, params: Record<string, unknown>) =>
    void send({ jsonrpc: '2.0', method, params }).catch((cause: unknown) =>
      server.onerror?.(new Error('sending a notification failed', { cause })),
    );
  try {
    return await run({
      get signal() {
        return call.signal;
      },
      ...(isStreaming && { notify: (method, params) => send({ jsonrpc: '2.0', method, params }) }),
      ...createNotices(caller, meta?.progressToken, sendNotification),
      ...(isStreaming && owner && { ask: (request) => clientRequests.ask(owner, { ...request, send }) }),
    });
  } finally {
    call.end();
    if (call.isCancelled()) await server.close();
  }
}

const logLevels = LoggingLevelSchema.options;

/** What a call tells its client before the result. Without a level the client gets no log messages, so most responses stay one JSON body. */
export function createNotices(
  { isStreaming, client }: Caller,
  progressToken: unknown,
  notify: (method: string, params: Record<string, unknown>) => void,
): Pick<Exchange, 'log' | 'progress'> {
  if (!isStreaming) return {};
  const minLevel = client?.log_level;
  const hasToken = typeof progressToken === 'string' || typeof progressToken === 'number';
  return {
    log(level, logger, data) {
      if (minLevel !== undefined && logLevels.indexOf(level) >= logLevels.indexOf(minLevel))
        notify('notifications/message', { level, logger, data });
    },
    ...(hasToken && {
      progress: (progress, total) => notify('notifications/progress', { progressToken, progress, total }),
    }),
  };
}

/** The caller of one MCP request. */
export interface Caller {
  actor: Actor;
  request_id: string;
  /** Undefined for a request without a session. */
  session?: { key: string; protocol_version: string; subscriptions: readonly string[] } | undefined;
  /** Undefined in older revisions without a session. */
  client?: ClientInfo | undefined;
  /** Whether the response is an event stream, which can carry messages before the result. */
  isStreaming: boolean;
  /** Where its waits continue. Undefined in older revisions without a session. */
  place?: Place | undefined;
  /** Registers a callback for the end of the response. `isSent`: all of it was handed to the operating system. */
  onResponseEnd(callback: (isSent: boolean) => void): void;
}

/** `onResponseEnd` of the callers of a request. */
export function responseEndOf({ res }: Pick<Context, 'res'>): Caller['onResponseEnd'] {
  let isSent = false;
  // One listener for all: a batch has as many callbacks as calls.
  const callbacks: ((isSent: boolean) => void)[] = [];
  res.once('finish', () => {
    isSent = true;
  });
  res.once('close', () => callbacks.forEach((callback) => callback(isSent)));
  return (callback) => void callbacks.push(callback);
}
