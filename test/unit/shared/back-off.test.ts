import { expect, test, vi } from 'vitest';
import { createBackOff } from '../../../src/shared/back-off.ts';

test('each delay is twice as long as the last one, up to a maximum; a reset starts again', () => {
  vi.useFakeTimers({ now: 1_000_000, toFake: ['Date'] });
  try {
    const rests = createBackOff(5, 30);
    expect(rests.blockedUntil('a')).toBe(0);
    expect([1, 2, 3, 4, 5].map(() => rests.start('a') - Date.now())).toEqual([5, 10, 20, 30, 30]);
    expect([rests.blockedUntil('a'), rests.blockedUntil('b')]).toEqual([1_000_030, 0]);
    rests.reset('a');
    expect(rests.blockedUntil('a')).toBe(0);
    expect(rests.start('a')).toBe(1_000_005);
    // A caller can request a longer delay; the next delay is not affected by it.
    expect([rests.start('a', 99), rests.blockedUntil('a'), rests.start('a', 1)]).toEqual([
      1_000_099, 1_000_099, 1_000_020,
    ]);
  } finally {
    vi.useRealTimers();
  }
});
