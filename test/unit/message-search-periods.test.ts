import { expect, test } from 'vitest';
import { minIdAt } from '../../packages/core/src/domain/ids.ts';
import { computeNextStep, listPeriods } from '../../src/repositories/messages/search-periods.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const now = Date.UTC(2026, 10, 21, 12, 34, 56);
const at = (time: number) => minIdAt('message', time);

test.each([
  ['a millisecond', 1, 10],
  ['an hour', 60 * minute, 10],
  ['a day', day, 9],
  ['a month', 30 * day, 8],
  ['two years', 730 * day, 8],
])('few periods cover %s completely', (_, long, length) => {
  for (const shift of [0, 7 * minute, 5 * day]) {
    const [from, below] = [now - shift - long, now - shift];
    const periods = listPeriods(at(from), at(below));
    expect(periods.length).toBeLessThanOrEqual(64);
    expect(new Set(periods.map((period) => period.length))).toEqual(new Set([length]));
    for (let part = 0; part <= 1; part += 0.01) {
      expect(periods).toContain(at(Math.floor(from + part * (below - from))).slice(0, length));
    }
  }
});

test('the length of a step back follows from the hits so far, and is at most eight times that of the last step', () => {
  const reached = at(now - day);
  const back = (filled: number) => computeNextStep(at(now), reached, filled);
  expect(back(0)).toBe(at(now - 8 * day));
  expect(back(0.01)).toBe(at(now - 8 * day));
  expect(back(0.4)).toBe(at(now - 3 * day));
  expect(back(20 / 21) < reached).toBe(true);
});

test('a step back is at most two years, which few periods cover', () => {
  const reached = at(now - 400 * day);
  const from = computeNextStep(at(now), reached, 0);
  expect(from < at(now - 1_130 * day)).toBe(true);
  expect(from > at(now - 1_200 * day)).toBe(true);
  expect(listPeriods(from, reached).length).toBeLessThanOrEqual(64);
});

test('a step back is not shorter than a period, and ends at time zero', () => {
  expect(computeNextStep(at(now), at(now), 0)).toBe(at(now - 8 * 2 ** 20));
  expect(computeNextStep(at(now), at(1), 0)).toBe(at(0));
});
