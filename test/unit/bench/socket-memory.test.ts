import { expect, test } from 'vitest';
import { toSocketMemory } from '../../../bench/streams/resident-memory.ts';

test('the marginal memory of a socket excludes what the process allocates once, and the average includes it', () => {
  const once = 40_000_000;
  const readings = { none: 200_000_000, quarter: 200_000_000 + once + 2_000 * 8_000, all: 304_000_000 };
  expect(toSocketMemory(8_000, readings)).toEqual({ marginal_kb: 8, average_kb: 13 });
});
