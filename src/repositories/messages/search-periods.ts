import { minIdAt, timeOfId } from '../../domain/ids.ts';

/**
 * A period is a prefix of message ids. The word index contains the periods of each message, so that a search can be limited to a time.
 * The time in an id is in base 32: one more character makes a period 32 times as short. These lengths are 17 minutes, 9 hours and 12 days.
 */
const prefixLengths = [10, 9, 8] as const;
const minPeriodMs = periodMs(prefixLengths[0]);
const maxPeriods = 64;

/** All periods of a message, as in the index. */
export const rowPeriods = 'array[left(s.message_id, 8), left(s.message_id, 9), left(s.message_id, 10)]';

function periodMs(length: number): number {
  return 32 ** (minIdAt('message', 0).length - 16 - length);
}

/** The periods that cover a range of ids, `below` exclusive. Null for more than two years: too many periods to be of use. */
export function listPeriods(from: string, below: string): string[] | null {
  for (const length of prefixLengths) {
    const duration = periodMs(length);
    const first = Math.floor(timeOfId(from) / duration);
    const count = Math.floor(timeOfId(below) / duration) - first + 1;
    if (count > maxPeriods) continue;
    return Array.from({ length: count }, (_, at) =>
      minIdAt('message', (first + at) * duration).slice(0, length),
    );
  }
  return null;
}

/** A step is as long as the rate of matches so far suggests plus a fifth; at most eight times the range before it. */
const step = { growth: 1.2, maxGrowth: 8 };

/**
 * The lowest id of the next step back in time.
 * @param reached the lowest id of the range that was searched, which begins at `newest`.
 * @param filled the part of a page that was found so far; less than 1.
 */
export function computeNextStep(newest: string, reached: string, filled: number): string {
  const end = timeOfId(newest);
  const searchedMs = Math.max(end - timeOfId(reached), minPeriodMs);
  return minIdAt('message', Math.floor(end - searchedMs * Math.min(step.growth / filled, step.maxGrowth)));
}
