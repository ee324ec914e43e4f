import { describe, expect, test } from 'vitest';
import { isTimeZone, nextDigestAt } from '../../../packages/core/src/domain/notifications.ts';

const next = (after: string, hour: number, time_zone: string) =>
  new Date(nextDigestAt(Date.parse(after), { hour, time_zone })).toISOString();

describe('the time of the daily message', () => {
  test.each([
    ['2026-11-24T04:00:00Z', 9, 'UTC', '2026-11-24T09:00:00.000Z'],
    ['2026-11-24T09:00:00Z', 9, 'UTC', '2026-11-25T09:00:00.000Z'],
    ['2026-11-24T08:59:59.999Z', 9, 'UTC', '2026-11-24T09:00:00.000Z'],
    ['2026-11-24T04:00:00Z', 9, 'Europe/Berlin', '2026-11-24T08:00:00.000Z'],
    ['2026-06-24T04:00:00Z', 9, 'Europe/Berlin', '2026-06-24T07:00:00.000Z'],
    ['2026-11-24T23:30:00Z', 0, 'Asia/Kolkata', '2026-11-25T18:30:00.000Z'],
    ['2026-11-24T23:30:00Z', 8, '+05:30', '2026-11-25T02:30:00.000Z'],
    ['2026-11-24T04:00:00Z', 23, '-11:00', '2026-11-24T10:00:00.000Z'],
    // The days on which the clock changes: 2026-10-25 has 25 hours, 2026-03-29 has 23.
    ['2026-10-24T12:00:00Z', 9, 'Europe/Berlin', '2026-10-25T08:00:00.000Z'],
    ['2026-03-28T12:00:00Z', 9, 'Europe/Berlin', '2026-03-29T07:00:00.000Z'],
    // 02:00 does not exist on 2026-03-29.
    ['2026-03-28T12:00:00Z', 2, 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
  ])('after %s, %i o’clock, %s', (after, hour, zone, expected) => {
    expect(next(after, hour, zone)).toBe(expected);
  });

  test('is once for each day of a year, in zones with and without summer time', () => {
    const year = (zone: string) =>
      Array.from({ length: 365 }).reduce<number[]>(
        (times) => [...times, nextDigestAt(times.at(-1) ?? 0, { hour: 7, time_zone: zone })],
        [Date.parse('2026-01-01T07:00:00Z')],
      );
    const gaps = ['America/New_York', 'Australia/Lord_Howe', 'Africa/Casablanca', '-03:30'].flatMap((zone) =>
      year(zone).map((time, at, times) => time - (times[at - 1] ?? time - 86_400_000)),
    );
    expect(Math.max(...gaps.slice(2))).toBeLessThanOrEqual(40 * 3_600_000);
    expect(Math.min(...gaps)).toBeGreaterThan(0);
  });
});

test('time zones are those of the system, and delays from UTC', () => {
  expect(['UTC', 'Europe/Berlin', '+05:30', '-11:00'].filter((zone) => !isTimeZone(zone))).toEqual([]);
  expect(['', 'Nowhere/City', '+25:00', '+1', "'; drop", '\u0000'].filter(isTimeZone)).toEqual([]);
});
