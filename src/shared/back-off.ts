/** Blocks names for a while, longer after each failure. Times are in milliseconds. */
export interface BackOff {
  /**
   * Blocks the name from now on, for at least `minMs`.
   * @returns the end of the block.
   */
  start(name: string, minMs?: number): number;
  /** The end of the block; 0 when the name is not blocked. */
  blockedUntil(name: string): number;
  /** Ends the block and forgets earlier failures. */
  reset(name: string): void;
}

/** The first block lasts `firstMs`; each further one twice as long, up to `maxMs`. */
export function createBackOff(firstMs: number, maxMs: number): BackOff {
  const blocked = new Map<string, { until: number; nextMs: number }>();
  return {
    start(name, minMs = 0) {
      const durationMs = Math.min(maxMs, blocked.get(name)?.nextMs ?? firstMs);
      const until = Date.now() + Math.max(durationMs, minMs);
      blocked.set(name, { until, nextMs: durationMs * 2 });
      return until;
    },
    blockedUntil: (name) => blocked.get(name)?.until ?? 0,
    reset: (name) => void blocked.delete(name),
  };
}
