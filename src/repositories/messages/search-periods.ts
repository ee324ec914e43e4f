import { minIdAt, timeOfId } from '../../domain/ids.ts';

/**
 * Periods, by which the index of words tells old messages from new ones, are the beginnings of ids: their time is in base 32, so that
 * one character more makes a period 32 times as short. These are of 17 minutes, 9 hours and 12 days.
 */
const prefixLengths = [10, 9, 8] as const;
const minPeriodMs = periodMs(prefixLengths[0]);
const maxPeriods = 64;

/** All periods of a message, as the index has them. */
export const rowPeriods = 'array[left(s.message_id, 8), left(s.message_id, 9), left(s.message_id, 10)]';

function periodMs(length: number): number {
  return 32 ** (minIdAt('message', 0).length - 16 - length);
}

/** Periods that hold all ids of a range, and little beside it. Null when it is longer than two years: then they would tell nothing. */
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

/** A step goes as far as the rate of hits so far tells and a fifth more; at most eight times as far as everything before it. */
const step = { growth: 1.2, maxGrowth: 8 };

/**
 * The lowest id of the next step back in time.
 * @param reached the lowest id of what was looked through, from `newest` on.
 * @param filled the part of a page that was found there; less than 1.
 */
export function computeNextStep(newest: string, reached: string, filled: number): string {
  const end = timeOfId(newest);
  const taken = Math.max(end - timeOfId(reached), minPeriodMs);
  return minIdAt('message', Math.floor(end - taken * Math.min(step.growth / filled, step.maxGrowth)));
}
