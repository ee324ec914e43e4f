/**
 * The state of an event at a webhook. `skipped`: the webhook is for offline agents, and the agent was online; or its scopes no longer show the
 * event.
 */
export const deliveryStates = ['pending', 'delivered', 'failed', 'skipped'] as const;

export type DeliveryState = (typeof deliveryStates)[number];

/** The reason why a webhook is disabled: its owner, a 410 of the receiver, or repeated failures. */
export const disabledReasons = ['by_request', 'gone', 'failing'] as const;

export type DisabledReason = (typeof disabledReasons)[number];

/** The maximum number of webhooks of one agent. */
export const maxWebhooks = 10;

/** The timing of attempts, in milliseconds. */
export interface WebhookPacing {
  /** The delay before each attempt, counted from the previous one; the first one is immediate. */
  scheduleMs: readonly number[];
  /** As `scheduleMs`, for messages to agents of other systems. The pauses are short, because the next messages of the thread wait. */
  remoteScheduleMs: readonly number[];
  /** The maximum random extension of a delay, as a fraction of it, so that failures do not retry at the same time. */
  jitter: number;
  /** Concurrent attempts for one webhook. */
  maxParallel: number;
  /** An attempt without a result after this time is repeated. Longer than an attempt can take. */
  leaseMs: number;
  /** How long a worker serves one webhook before it serves the others. */
  turnMs: number;
  /** The back-off of a webhook after a run without any success; it doubles each time. */
  backoffMs: number;
  /** The maximum back-off of a webhook. */
  maxBackoffMs: number;
  /** The maximum Retry-After of a receiver that is respected. */
  maxRetryAfterMs: number;
  /** The age at which the sweep picks up a due delivery: longer than the usual delay of the queue. */
  graceMs: number;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** The longest pause between two attempts at an agent of another system, also when that one asks for more; without `jitter`. */
export const maxRemotePauseMs = 15 * minute;

/** Attempts over a little more than three days; ten for a webhook. */
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
  remoteScheduleMs: [
    ...[0, 5, 10, 15, 30, 60, 120, 300, 600].map((seconds) => seconds * second),
    ...Array<number>(288).fill(maxRemotePauseMs),
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

/** Longer than any pause between two attempts of a webhook that fails. */
export const maxAttemptGapMs = 36 * hour;

/** The bus topic that notifies workers of a webhook with due deliveries; the body is its id. */
export const webhooksTopic = 'webhooks';
