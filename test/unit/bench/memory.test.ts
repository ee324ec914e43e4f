import { expect, test } from 'vitest';
import { toSocketMemory } from '../../../bench/start/resident-memory.ts';
import { growsBeyondData, isFlat, slopeOf } from '../../../bench/load/growth.ts';

test('memory that rises and falls counts as flat, and memory that keeps growing does not', () => {
  expect(slopeOf([100, 110, 120])).toBeCloseTo(20);
  expect(slopeOf([100])).toBe(0);
  expect(isFlat([150, 158, 149, 157, 150, 156])).toBe(true);
  expect(isFlat([150, 153, 156, 159, 162, 165])).toBe(false);
  expect(isFlat([400, 404, 408, 412, 416])).toBe(true);
  expect(isFlat([200, 150, 120])).toBe(true);
});

test('a table may grow in proportion to its rows', () => {
  const table = (rows: number, megabytes: number) => ({
    name: 'messages',
    rows,
    bytes: megabytes * 1_000_000,
  });
  expect(growsBeyondData(table(50_000, 30), table(100_000, 61))).toBe(false);
  expect(growsBeyondData(table(50_000, 30), table(50_000, 60))).toBe(true);
  expect(growsBeyondData(table(0, 1), table(0, 2.5))).toBe(false);
  expect(growsBeyondData(table(0, 1), table(0, 20))).toBe(true);
});

test('the marginal memory of a socket excludes what the process allocates once, and the average includes it', () => {
  const once = 40_000_000;
  const readings = { none: 200_000_000, quarter: 200_000_000 + once + 2_000 * 8_000, all: 304_000_000 };
  expect(toSocketMemory(8_000, readings)).toEqual({ marginal_kb: 8, average_kb: 13 });
});
