import { expect, test } from 'vitest';
import {
  getLagMs,
  type PrimaryPosition,
  rememberPosition,
} from '../../../src/platform/database/replica-position.ts';

const place = (position: number, at: number): PrimaryPosition => ({ position, at, origin: '' });

test('the delay of a replica starts when the primary passed its position', () => {
  const places = [place(100, 1_000), place(100, 2_000), place(150, 3_000), place(200, 4_000)];
  expect(getLagMs(places, 200, 5_000)).toBe(0);
  expect(getLagMs(places, 150, 5_000)).toBe(1_000);
  expect(getLagMs(places, 149, 5_000)).toBe(2_000);
  expect(getLagMs(places, 100, 5_000)).toBe(2_000);
});

test('the delay of a replica without the oldest known position of the primary is unknown', () => {
  expect(getLagMs([place(100, 1_000)], 99, 1_000)).toBeNull();
  expect(getLagMs([], 99, 1_000)).toBeNull();
});

test('no more positions are kept than the maximum delay needs', () => {
  for (const most_behind_ms of [1_000, 10_000, 3_600_000]) {
    const places: PrimaryPosition[] = [];
    for (let second = 0; second < 20_000; second += 1) {
      rememberPosition(places, place(second, second * 1_000), most_behind_ms);
    }
    expect(places.length).toBeLessThanOrEqual(120);
    expect(places.at(-1)?.position).toBe(19_999);
    expect(19_999_000 - (places[0]?.at ?? 0)).toBeGreaterThan(1.5 * most_behind_ms);
  }
});
