export interface Limit {
  /** Calls in each period. */
  points: number;
  /** The length of a period in whole seconds, from its first call on. */
  seconds: number;
}

/** The state of a limit after a call. */
export interface LimitState {
  limit: Limit;
  /** Whether this call was within the limit. */
  isAllowed: boolean;
  remaining: number;
  /** Milliseconds until the next period. */
  resetMs: number;
}

/**
 * Counts calls by the name of a limit and the key of a caller. All processes share the count; while the store is unavailable each process
 * counts by itself. Two adapters: Redis and PostgreSQL.
 */
export interface Limiter<Name extends string> {
  /** Counts one call; null when nothing is counted. Never rejects, and waits for the store at most one second. */
  consume(name: Name, key: string): Promise<LimitState | null>;
  close(): Promise<void>;
}

/** No limits, for load tests. */
export const unlimited: Limiter<string> = {
  consume: () => Promise.resolve(null),
  close: () => Promise.resolve(),
};
