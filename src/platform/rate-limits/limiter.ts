export interface Limit {
  /** Calls in each period. */
  points: number;
  /** The length of a period: whole seconds, from its first call on. */
  seconds: number;
}

/** What is left of a limit after a call. */
export interface LimitState {
  limit: Limit;
  /** Whether this call was within the limit. */
  isAllowed: boolean;
  remaining: number;
  /** Milliseconds until the next period. */
  resetMs: number;
}

/**
 * Counts calls, each under the name of a limit and a key of whoever calls. All processes share the count. Two adapters: Redis
 * and PostgreSQL; while the store is away each process counts for itself.
 */
export interface Limiter<Name extends string> {
  /**
   * Counts one call; null when nothing is counted. Never rejects, and waits for a store that does not answer a second at most.
   */
  consume(name: Name, key: string): Promise<LimitState | null>;
  close(): Promise<void>;
}

/** Lets everything pass, as load tests want it. */
export const unlimited: Limiter<string> = {
  consume: () => Promise.resolve(null),
  close: () => Promise.resolve(),
};
