import { RpcError, rpcCodes } from '../protocol/errors.ts';
import type { Caller } from '../protocol/exchange.ts';

/**
 * The parts of the draft extension Events that may still change: names, error codes and numbers. Two dialects are in use. The design sketch of
 * modelcontextprotocol/experimental-ext-triggers-events is what ChatGPT speaks; SEP-3415 gives the errors other codes and the capability
 * another place.
 */
export const eventsExtension = 'io.modelcontextprotocol/events';

/** Clients of the sketch read the first one, clients of SEP-3415 the second one. */
export const eventsCapability = { events: {}, extensions: { [eventsExtension]: {} } } as const;

export const eventMethods = {
  list: 'events/list',
  poll: 'events/poll',
  stream: 'events/stream',
} as const;

export const eventNotifications = {
  active: 'notifications/events/active',
  event: 'notifications/events/event',
  heartbeat: 'notifications/events/heartbeat',
  terminated: 'notifications/events/terminated',
} as const;

/** How each event type can be received. */
export const deliveryModes = ['poll', 'push'] as const;

/** When a client should poll again, in ms, if there are no more events. */
export const nextPollMs = 5_000;

/** Events of one poll. */
export const eventsPerPoll = { max: 100, default: 50 } as const;

/** The maximum time between two heartbeats of a stream, in ms. */
export const maxHeartbeatMs = 30_000;

const errorCodes = {
  sketch: { notFound: -32_011, forbidden: -32_012, resourceExhausted: -32_013 },
  sep3415: { notFound: -32_023, forbidden: -32_024, resourceExhausted: -32_025 },
} as const;

export type EventErrorCode = keyof (typeof errorCodes)['sketch'];

const messages: Record<EventErrorCode, string> = {
  notFound: 'NotFound',
  forbidden: 'Forbidden',
  resourceExhausted: 'ResourceExhausted',
};

/** An error as the object in a JSON-RPC response or notification. */
export interface EventErrorBody {
  code: number;
  message: string;
  data: object;
}

/** An error in the dialect of the client: a request that declares the extension is of SEP-3415. */
export function eventErrorBody(
  { client }: Pick<Caller, 'client'>,
  code: EventErrorCode,
  data: object,
): EventErrorBody {
  const codes = errorCodes[client?.hasEvents ? 'sep3415' : 'sketch'];
  return { code: codes[code], message: messages[code], data };
}

/** The same as an error to throw. */
export function eventError(
  caller: Pick<Caller, 'client'>,
  code: EventErrorCode,
  { text, ...data }: { text: string; [field: string]: unknown },
): RpcError {
  const body = eventErrorBody(caller, code, data);
  return new RpcError(body.code, `${body.message}: ${text}`, { data });
}

/** -32602, which both dialects have. */
export function invalidEventParams(text: string, data?: object): RpcError {
  return new RpcError(rpcCodes.invalidParams, text, { data });
}
