import type { TableSize } from './table-sizes.ts';

/** How much more than its data a table may grow, and what counts as nothing in a table that is rewritten all the time. */
const tolerance = 1.2;
const negligibleBytes = 2_000_000;
/** What memory may rise over the second half of the run and still be flat: garbage comes and goes. */
const flatShare = 0.05;
const flatMegabytes = 8;

/** How much values rise from the first to the last one, by the straight line that fits them best. */
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

/** Whether memory of so many MB, looked at in equal steps, does not grow. */
export function isFlat(values: readonly number[]): boolean {
  const mean = values.reduce((total, value) => total + value, 0) / values.length;
  return slopeOf(values) <= Math.max(flatMegabytes, flatShare * mean);
}

/** Whether a table has grown by more than what was put into it since. */
export function growsBeyondData(before: TableSize, after: TableSize): boolean {
  const growth = Math.max(1, after.rows / Math.max(1, before.rows));
  return after.bytes > before.bytes * growth * tolerance + negligibleBytes;
}
