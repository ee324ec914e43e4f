export interface Limit {
  /** Calls in each period. */
  points: number;
  /** The length of a period in whole seconds, from its first call on. */
  seconds: number;
}

/** The state of a limit after one or more calls. */
export interface LimitState {
  limit: Limit;
  /** How many of the counted calls were within the limit. */
  allowed: number;
  remaining: number;
  /** Milliseconds until the next period. */
  resetMs: number;
}

/**
 * Counts calls by the name of a limit and the key of a caller. All processes share the count; while the store is unavailable each process
 * counts by itself. Two adapters: Redis and PostgreSQL.
 */
export interface Limiter<Name extends string> {
  /**
   * Counts calls; null when nothing is counted. Never rejects, and waits for the store at most one second.
   * @param calls default: one
   */
  consume(name: Name, key: string, calls?: number): Promise<LimitState | null>;
  close(): Promise<void>;
}

/** No limits, for load tests. */
export const unlimited: Limiter<string> = {
  consume: () => Promise.resolve(null),
  close: () => Promise.resolve(),
};
