export interface Limit {
  /** Calls in each period. */
  points: number;
  /** The length of a period: whole seconds, from its first call on. */
  seconds: number;
}

/** What is left of a limit after a call. */
export interface Balance {
  limit: Limit;
  /** Whether this call was within the limit. */
  allowed: boolean;
  remaining: number;
  /** Milliseconds until the next period. */
  reset_ms: number;
}

/**
 * Counts calls, each under the name of a limit and a key of whoever calls. All processes share the count. Two adapters: Redis
 * and PostgreSQL; while the store is away each process counts for itself.
 */
export interface Limiter<Name extends string> {
  /**
   * Counts one call; null when nothing is counted. Never rejects, and waits for a store that does not answer a second at most.
   */
  take(name: Name, key: string): Promise<Balance | null>;
  close(): Promise<void>;
}

/** Lets everything pass, as load tests want it. */
export const unlimited: Limiter<string> = {
  take: () => Promise.resolve(null),
  close: () => Promise.resolve(),
};
