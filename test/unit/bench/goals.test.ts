import { expect, test } from 'vitest';
import { atLeast, atMost } from '../../../bench/suites/goals.ts';

const measure = 'p50 / p99 ms';

test('a goal is compared with each of its figures', () => {
  expect(atMost([4, 15], [4, 15], measure)).toEqual({
    measure,
    goal: '≤ 4 / 15',
    figures: '4 / 15',
    result: 'met',
  });
  expect(atMost([4, 15], [3.6, 22.94444], measure)).toMatchObject({
    figures: '3.6 / 22.944',
    result: 'met / MISSED',
  });
});

test('a goal can be a minimum', () => {
  expect(atLeast([2_500], [2_500], 'a second')).toMatchObject({ goal: '≥ 2500', result: 'met' });
  expect(atLeast([2_500], [2_499], 'a second')).toMatchObject({ result: 'MISSED' });
});

test('a figure that the system does not report is not available', () => {
  const row = { figures: '– / –', result: 'not available' };
  expect(atMost([4, 15], [null, undefined], measure)).toMatchObject(row);
});
