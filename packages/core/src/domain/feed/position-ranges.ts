/**
 * Numbers of a feed are divided into ranges. After a restore of the database the feed continues in the next range, far after every number
 * that was ever sent. A range has no gaps. 2^40 numbers last 30 years at a thousand events a second, and there are 8,191 ranges before
 * numbers stop being exact.
 */
export const rangeLength = 2 ** 40;

/** The range of a number: 0 until the first restore. */
export function rangeIndexOf(number: number): number {
  return Math.floor(number / rangeLength);
}

/**
 * Translates a position into the current range. `ended` holds the last number of each earlier range, in their order. A reader at the end of
 * a range continues in the next one without a gap. A reader after the end of a range has read events that the restored database does not
 * have: `lost`.
 */
export function toCurrentPosition(
  position: number,
  ended: readonly number[],
): { position: number; lost: boolean } {
  let at = position;
  for (;;) {
    const index = rangeIndexOf(at);
    const end = ended[index];
    if (end === undefined || at < end) return { position: at, lost: false };
    const next = (index + 1) * rangeLength;
    if (at > end) return { position: next, lost: true };
    at = next;
  }
}
