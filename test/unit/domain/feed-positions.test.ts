import { expect, test } from 'vitest';
import {
  toCurrentPosition,
  rangeLength,
  rangeIndexOf,
} from '../../../packages/core/src/domain/feed/position-ranges.ts';

const second = rangeLength;
const third = 2 * rangeLength;

test.each([
  ['before any restore', 7, [], 7, false],
  ['inside an epoch that ended', 6, [7], 6, false],
  ['where an epoch ended', 7, [7], second, false],
  ['where two epochs ended one after the other, the second without an entry', 7, [7, second], third, false],
  ['beyond the end of an epoch', 8, [7], second, true],
  ['beyond the end of the second epoch', second + 5, [7, second + 4], third, true],
  ['in the first entry of the present epoch', second + 1, [7], second + 1, false],
  ['nothing read, in a feed that was empty', 0, [0], second, false],
])('the range of a position %s', (_, position, ended, present, lost) => {
  expect(toCurrentPosition(position, ended)).toEqual({ position: present, lost });
  expect(rangeIndexOf(present)).toBeGreaterThanOrEqual(rangeIndexOf(position));
});
