import { expect, test } from 'vitest';
import { toCurrentPosition, rangeLength, rangeIndexOf } from '../../../src/domain/feed/position-ranges.ts';

const second = rangeLength;
const third = 2 * rangeLength;

test.each([
  ['before any restore', 7, [], 7, false],
  ['inside a stretch that ended', 6, [7], 6, false],
  ['where a stretch ended', 7, [7], second, false],
  ['where two ended one after the other, the second without a line', 7, [7, second], third, false],
  ['beyond the end of a stretch', 8, [7], second, true],
  ['beyond the end of the second one', second + 5, [7, second + 4], third, true],
  ['in the first line of the present one', second + 1, [7], second + 1, false],
  ['nothing read, in a feed that was empty', 0, [0], second, false],
])('a position %s', (_, position, ended, present, lost) => {
  expect(toCurrentPosition(position, ended)).toEqual({ position: present, lost });
  expect(rangeIndexOf(present)).toBeGreaterThanOrEqual(rangeIndexOf(position));
});
