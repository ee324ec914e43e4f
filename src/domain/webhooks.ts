import { eventScopes, eventTypes } from './feed/events.ts';
import { sufficientScopes } from './auth/scopes.ts';

/** What becomes of an event at a webhook. `skipped`: it is for when the agent is offline, and the agent was not. */
export const deliveryStates = ['pending', 'delivered', 'failed', 'skipped'] as const;

export type DeliveryState = (typeof deliveryStates)[number];

/** Who or what stopped a webhook: its people, the receiver by 410, or attempts that failed to the end. */
export const disabledReasons = ['by_request', 'gone', 'failing'] as const;

export type DisabledReason = (typeof disabledReasons)[number];

/** Webhooks that one agent may have. */
export const maxWebhooks = 10;

/** How the attempts of a worker follow each other. Times in milliseconds. */
export interface WebhookPacing {
  /** Before each attempt, counted from the one before; the first one is at once. */
  scheduleMs: readonly number[];
  /** A pause is longer by up to this part of it, so that what failed together does not come back together. */
  jitter: number;
  /** Attempts at one webhook at a time. */
  maxParallel: number;
  /** An attempt that nobody reported back from after this time is made again. Longer than an attempt may take. */
  leaseMs: number;
  /** How long a worker stays with one webhook before it turns to the others. */
  turnMs: number;
  /** How long a webhook is left alone after a turn in which nothing got through; twice as long each time it happens again. */
  backoffMs: number;
  /** The longest that a webhook is left alone. */
  maxBackoffMs: number;
  /** The longest that a receiver is left alone because it asks for that. */
  maxRetryAfterMs: number;
  /** How late something is before the sweep has it looked at: longer than the queue takes to come to it. */
  graceMs: number;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Ten attempts over a bit more than three days. */
export const defaultPacing: WebhookPacing = {
  scheduleMs: [
    0,
    5 * second,
    5 * minute,
    30 * minute,
    2 * hour,
    5 * hour,
    10 * hour,
    14 * hour,
    20 * hour,
    24 * hour,
  ],
  jitter: 0.1,
  maxParallel: 4,
  leaseMs: 30 * second,
  turnMs: 3 * second,
  backoffMs: 5 * second,
  maxBackoffMs: 2 * minute,
  maxRetryAfterMs: hour,
  graceMs: 5 * second,
};

/** Which scopes show which event type: one pair for each scope that alone is enough. */
export const typesByScope: readonly { type: string; scope: string }[] = eventTypes.flatMap((type) =>
  [...sufficientScopes(eventScopes[type]), 'realtime:read'].map((scope) => ({ type, scope })),
);

/** The bus topic on which workers hear that a webhook has something to post; the body is its id. */
export const webhooksTopic = 'webhooks';
