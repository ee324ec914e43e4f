import { expect, test } from 'vitest';
import { judgeGoal } from '../../../bench/suites/goals.ts';

const times = { measure: 'p50 / p99 ms', goal: [4, 15] };

test('a goal is compared with each of its figures', () => {
  expect(judgeGoal({ ...times, figures: [4, 15] })).toEqual({
    measure: 'p50 / p99 ms',
    goal: '≤ 4 / 15',
    figures: '4 / 15',
    result: 'met',
  });
  expect(judgeGoal({ ...times, figures: [3.6, 22.94444] })).toMatchObject({
    figures: '3.6 / 22.944',
    result: 'met / MISSED',
  });
});

test('a goal can be a minimum', () => {
  const rate = { measure: 'a second', goal: [2_500], at_least: true };
  expect(judgeGoal({ ...rate, figures: [2_500] })).toMatchObject({ goal: '≥ 2500', result: 'met' });
  expect(judgeGoal({ ...rate, figures: [2_499] })).toMatchObject({ result: 'MISSED' });
});

test('a figure that the system does not report is not available', () => {
  const row = { figures: '– / –', result: 'not available' };
  expect(judgeGoal({ ...times, figures: [null, undefined] })).toMatchObject(row);
});
