import { expect, test, vi } from 'vitest';
import { createRests } from '../../../workers/rests.ts';

test('each rest is twice as long as the one before, up to the longest; an end forgets them', () => {
  vi.useFakeTimers({ now: 1_000_000, toFake: ['Date'] });
  try {
    const rests = createRests(5, 30);
    expect(rests.until('a')).toBe(0);
    expect([1, 2, 3, 4, 5].map(() => rests.begin('a') - Date.now())).toEqual([5, 10, 20, 30, 30]);
    expect([rests.until('a'), rests.until('b')]).toEqual([1_000_030, 0]);
    rests.end('a');
    expect(rests.until('a')).toBe(0);
    expect(rests.begin('a')).toBe(1_000_005);
    // Who asks for more gets more; the next rest is as long as if nobody had asked.
    expect([rests.begin('a', 99), rests.until('a'), rests.begin('a', 1)]).toEqual([
      1_000_099, 1_000_099, 1_000_020,
    ]);
  } finally {
    vi.useRealTimers();
  }
});
