/**
 * Numbers of a feed come in stretches: a restored database goes on in the next one, far behind everything that was ever given out.
 * Within a stretch there is no hole. 2^40 numbers last an agent for 30 years at a thousand events a second, and there are 8,191 stretches
 * before numbers stop being exact.
 */
export const rangeLength = 2 ** 40;

/** Which stretch a number lies in: 0 until the first restore. */
export function rangeIndexOf(number: number): number {
  return Math.floor(number / rangeLength);
}

/**
 * Brings a position into the log as it is now. `ended` holds the last number of each stretch before the present one, in their
 * order. Whoever stands where a stretch ended has missed nothing and goes on with the next one; whoever stands beyond its end has read
 * events that the restored database never had: `lost`.
 */
export function toCurrentPosition(
  position: number,
  ended: readonly number[],
): { position: number; lost: boolean } {
  let at = position;
  for (;;) {
    const stretch = rangeIndexOf(at);
    const end = ended[stretch];
    if (end === undefined || at < end) return { position: at, lost: false };
    const next = (stretch + 1) * rangeLength;
    if (at > end) return { position: next, lost: true };
    at = next;
  }
}
