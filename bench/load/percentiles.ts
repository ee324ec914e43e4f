export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
}

/** Percentiles of milliseconds, rounded to a tenth; NaN when there are no values. */
export function percentiles(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => {
    const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
    return Math.round((value ?? Number.NaN) * 10) / 10;
  };
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** The median, rounded to hundredths. */
export function median(values: readonly number[]): number {
  const middle = values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
  return Math.round((middle ?? Number.NaN) * 100) / 100;
}
