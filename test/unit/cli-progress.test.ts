import { expect, test } from 'vitest';
import { formatDuration, formatProgress } from '../../src/cli/maintenance/search-progress.ts';

test.each([
  [
    { done: 12_000, total: 1_000_000, written: 4_321, elapsed_ms: 4_000 },
    '12,000 of 1,000,000 messages (1 %), 4,321 written, 3,000 a second, about 5 min 30 s left',
  ],
  [
    { done: 1_200, total: 1_000, written: 0, elapsed_ms: 600 },
    '1,200 of 1,000 messages (100 %), 0 written, 2,000 a second, about 0 s left',
  ],
  [
    { done: 1, total: 0, written: 1, elapsed_ms: 0 },
    '1 of 0 messages (100 %), 1 written, 1,000 a second, about 0 s left',
  ],
])('progress reports the position, the rate and the remaining time', (progress, line) => {
  expect(formatProgress(progress)).toBe(line);
});

test.each([
  [0, '0 s'],
  [59.2, '1 min 0 s'],
  [185, '3 min 5 s'],
  [7_830, '2 h 10 min'],
])('%d seconds are formatted as %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text);
});
