import { minIdAt, timeOfId } from '../../../packages/core/src/domain/ids.ts';

/**
 * A period is a prefix of message ids. The word index contains the periods of each message, so that a search can be limited to a time.
 * The time in an id is in base 32: one more character makes a period 32 times as short. These lengths are 17 minutes, 9 hours and 12 days.
 */
const prefixLengths = [10, 9, 8] as const;
const minPeriodMs = periodMs(prefixLengths[0]);
const maxPeriods = 64;
/** About two years. A range that is not longer has at most 64 periods. */
const maxStepMs = (maxPeriods - 1) * periodMs(prefixLengths[2]);

/** All periods of a message, as in the index. */
export const rowPeriods = 'array[left(s.message_id, 8), left(s.message_id, 9), left(s.message_id, 10)]';

function periodMs(length: number): number {
  return 32 ** (minIdAt('message', 0).length - 16 - length);
}

/** The periods that cover a range of ids, `below` exclusive: as short as possible, but at most 64 for a range of two years. */
export function listPeriods(from: string, below: string): string[] {
  const firstOf = (length: number) => Math.floor(timeOfId(from) / periodMs(length));
  const countOf = (length: number) => Math.floor(timeOfId(below) / periodMs(length)) - firstOf(length) + 1;
  const length = prefixLengths.find((each) => countOf(each) <= maxPeriods) ?? prefixLengths[2];
  return Array.from({ length: countOf(length) }, (_, at) =>
    minIdAt('message', (firstOf(length) + at) * periodMs(length)).slice(0, length),
  );
}

/** A step is as long as the rate of matches so far suggests plus a fifth; at most eight times the range before it. */
const step = { growth: 1.2, maxGrowth: 8 };

/**
 * The lowest id of the next step back in time, which is at most two years.
 * @param reached the lowest id of the range that was searched, which begins at `newest`.
 * @param filled the part of a page that was found so far; less than 1.
 */
export function computeNextStep(newest: string, reached: string, filled: number): string {
  const end = timeOfId(newest);
  const below = timeOfId(reached);
  const searchedMs = Math.max(end - below, minPeriodMs);
  const from = Math.floor(end - searchedMs * Math.min(step.growth / filled, step.maxGrowth));
  return minIdAt('message', Math.max(from, below - maxStepMs));
}
