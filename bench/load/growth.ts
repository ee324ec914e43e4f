import type { TableSize } from '../start/snapshot.ts';

/** How much faster than its data a table may grow, and the growth to ignore in a table that is rewritten constantly. */
const tolerance = 1.2;
const negligibleBytes = 2_000_000;
/** Allowed rise of memory over the second half of the run, because of uncollected garbage. */
const flatShare = 0.05;
const flatMegabytes = 8;

/** The rise from the first value to the last, by linear regression. */
export function slopeOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((total, value) => total + value, 0) / values.length;
  let above = 0;
  let below = 0;
  for (const [at, value] of values.entries()) {
    above += (at - middle) * (value - mean);
    below += (at - middle) ** 2;
  }
  return below === 0 ? 0 : (above / below) * (values.length - 1);
}

/** Whether memory in MB, sampled at equal intervals, does not grow. */
export function isFlat(values: readonly number[]): boolean {
  const mean = values.reduce((total, value) => total + value, 0) / values.length;
  return slopeOf(values) <= Math.max(flatMegabytes, flatShare * mean);
}

/** Whether a table has grown more than its number of rows explains. */
export function growsBeyondData(before: TableSize, after: TableSize): boolean {
  const growth = Math.max(1, after.rows / Math.max(1, before.rows));
  return after.bytes > before.bytes * growth * tolerance + negligibleBytes;
}
