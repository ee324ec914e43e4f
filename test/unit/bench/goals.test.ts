import { expect, test } from 'vitest';
import { formatGoals, isGoalMet } from '../../../bench/suites/goals.ts';

test('a goal is compared with each of its figures, as a minimum or a maximum', () => {
  const times = { measure: 'p50 / p99 ms', goal: [4, 15], at_least: false };
  expect(isGoalMet({ ...times, figures: [4, 15.1] })).toEqual([true, false]);
  expect(isGoalMet({ ...times, figures: [null, null] })).toEqual([false, false]);
  expect(isGoalMet({ measure: 'a second', goal: [2_500], figures: [2_500], at_least: true })).toEqual([true]);
  expect(isGoalMet({ measure: 'a second', goal: [2_500], figures: [2_499], at_least: true })).toEqual([
    false,
  ]);
});

test('the table marks missed goals', () => {
  const goals = [
    { measure: 'p50 / p99 ms', goal: [4, 15], figures: [3.6, 22.94444], at_least: false },
    { measure: 'frames/s', goal: [30_000], figures: [36_000], at_least: true },
    { measure: 'CPU time', goal: [1.1], figures: [null], at_least: false },
  ];
  expect(formatGoals({ goals })).toBe(
    [
      'p50 / p99 ms  ≤ 4 / 15  3.6 / 22.944   met / MISSED',
      'frames/s      ≥ 30000   36000          met',
      'CPU time      ≤ 1.1     not available  –',
      '',
    ].join('\n'),
  );
});
