/** Things that are left alone for a while, each under a name; longer each time that it happens again. Times in milliseconds. */
export interface Rests {
  /** Leaves it alone from now on, for `asked` ms at least; answers until when. */
  begin(name: string, asked?: number): number;
  /** Until when it is left alone; 0 when it is not. */
  until(name: string): number;
  /** It need not be left alone, and what was before counts no more. */
  end(name: string): void;
}

/** The first rest lasts `first` ms, each one after it twice as long as the one before, and none longer than `longest` ms. */
export function createRests(first: number, longest: number): Rests {
  const resting = new Map<string, { until: number; next: number }>();
  return {
    begin(name, asked = 0) {
      const lasts = Math.min(longest, resting.get(name)?.next ?? first);
      const until = Date.now() + Math.max(lasts, asked);
      resting.set(name, { until, next: lasts * 2 });
      return until;
    },
    until: (name) => resting.get(name)?.until ?? 0,
    end: (name) => void resting.delete(name),
  };
}
