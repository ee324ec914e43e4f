/** Things that are left alone for a while, each under a name; longer each time that it happens again. Times in milliseconds. */
export interface BackOff {
  /** Leaves it alone from now on, for `asked` ms at least; answers until when. */
  start(name: string, asked?: number): number;
  /** Until when it is left alone; 0 when it is not. */
  blockedUntil(name: string): number;
  /** It need not be left alone, and what was before counts no more. */
  reset(name: string): void;
}

/** The first rest lasts `first` ms, each one after it twice as long as the one before, and none longer than `longest` ms. */
export function createBackOff(first: number, longest: number): BackOff {
  const resting = new Map<string, { until: number; next: number }>();
  return {
    start(name, asked = 0) {
      const lasts = Math.min(longest, resting.get(name)?.next ?? first);
      const until = Date.now() + Math.max(lasts, asked);
      resting.set(name, { until, next: lasts * 2 });
      return until;
    },
    blockedUntil: (name) => resting.get(name)?.until ?? 0,
    reset: (name) => void resting.delete(name),
  };
}
