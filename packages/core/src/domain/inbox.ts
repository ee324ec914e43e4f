/** The settings of an inbox whose agent chose none. */
export const defaultInbox = {
  types: ['message.created' as const],
  lease_seconds: 60,
  max_attempts: 5,
  ordered_by_thread: true,
};

/** The maximum number of leases of one agent at a time. */
export const maxLeases = 1_000;

/** The maximum number of leases of one claim, and of one acknowledgement. */
export const maxLeasesPerCall = 100;

/** The length of a lease, in seconds. */
export const leaseSeconds = { min: 5, max: 43_200 } as const;

/** A consumer is listed for this long after its last claim, in milliseconds. */
export const consumerLifeMs = 24 * 60 * 60 * 1000;

/** How an attempt ended without an acknowledgement. */
export const attemptOutcomes = ['released', 'expired'] as const;

/** One attempt to handle an item that did not end with an acknowledgement. */
export interface FailedAttempt {
  attempt: number;
  outcome: (typeof attemptOutcomes)[number];
  /** The text of the instance that released it. */
  reason: string | null;
  consumer: string | null;
  /** Milliseconds since the epoch. */
  ended_at: number;
}

/** Bus topic of inboxes with items that may be ready now; the body is the id of the agent. */
export const inboxTopic = 'inbox';

/** Topic, within a process, of agents with items that were handled and whose marks must move; the body is the id of the agent. */
export const handledTopic = 'handled';

/** What a claim waits for when no item is ready. */
export interface NextItem {
  /** The last number of the feed when it was read. */
  last_number: number;
  /** How long until the next item can be ready, in milliseconds; 0 or less for now, null if nothing is known to become ready. */
  next_in_ms: number | null;
}
