/**
 * The parts of the draft extension Events of MCP that may still change: names, error codes and numbers. Two dialects are in use. The design
 * sketch of modelcontextprotocol/experimental-ext-triggers-events is what ChatGPT speaks; SEP-3415 gives the errors other codes and the
 * capability another place.
 */
export const eventsExtension = 'io.modelcontextprotocol/events';

/** Clients of the sketch read the first one, clients of SEP-3415 the second one. */
export const eventsCapability = { events: {}, extensions: { [eventsExtension]: {} } } as const;

export const eventMethods = {
  list: 'events/list',
  poll: 'events/poll',
  stream: 'events/stream',
  subscribe: 'events/subscribe',
  unsubscribe: 'events/unsubscribe',
} as const;

export const eventNotifications = {
  active: 'notifications/events/active',
  event: 'notifications/events/event',
  heartbeat: 'notifications/events/heartbeat',
  terminated: 'notifications/events/terminated',
} as const;

/** How each event type can be received. */
export const deliveryModes = ['poll', 'push', 'webhook'] as const;

/** Names the subscription in each request to a receiver. */
export const subscriptionHeader = 'x-mcp-subscription-id';

/** When a client should poll again, in ms, if there are no more events. */
export const nextPollMs = 5_000;

/** Events of one poll. */
export const eventsPerPoll = { max: 100, default: 50 } as const;

/** The maximum time between two heartbeats of a stream, in ms. */
export const maxHeartbeatMs = 30_000;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** How long a subscription with a URL lives without a refresh, in ms. A client that asks for no end gets the maximum. */
export const subscriptionTtlMs = { min: minuteMs, default: 24 * hourMs, max: 7 * 24 * hourMs } as const;

/** Subscriptions with a URL of one agent. */
export const maxSubscriptions = 100;

/** How long requests are also signed with the previous secret of a subscription, in ms. */
export const previousSecretMs = 5 * minuteMs;

/** The maximum time for which an event is held because its subscriber makes calls, in ms. */
export const maxHoldMs = 5 * minuteMs;

/** Standard Webhooks: 24 to 64 random bytes. */
export const secretBytes = { min: 24, max: 64 } as const;

const errorCodes = {
  sketch: {
    notFound: -32_011,
    forbidden: -32_012,
    resourceExhausted: -32_013,
    unsupported: -32_014,
    callbackEndpointError: -32_015,
  },
  sep3415: {
    notFound: -32_023,
    forbidden: -32_024,
    resourceExhausted: -32_025,
    unsupported: -32_026,
    callbackEndpointError: -32_027,
  },
} as const;

export type EventDialect = keyof typeof errorCodes;

export type EventErrorCode = keyof (typeof errorCodes)['sketch'];

const messages: Record<EventErrorCode, string> = {
  notFound: 'NotFound',
  forbidden: 'Forbidden',
  resourceExhausted: 'ResourceExhausted',
  unsupported: 'Unsupported',
  callbackEndpointError: 'CallbackEndpointError',
};

/** An error as the object in a JSON-RPC response, a notification or a request to a receiver. */
export interface EventErrorBody {
  code: number;
  message: string;
  data: object;
}

/** An error in a dialect. */
export function eventErrorBody(dialect: EventDialect, code: EventErrorCode, data: object): EventErrorBody {
  return { code: errorCodes[dialect][code], message: messages[code], data };
}

/** Why a receiver could not be reached or verified. The client learns nothing else about the failure. */
export const callbackFailures = [
  'connection_refused',
  'timeout',
  'tls_error',
  'http_4xx',
  'http_5xx',
  'challenge_failed',
] as const;

export type CallbackFailure = (typeof callbackFailures)[number];
