import { InvalidArgumentError } from 'commander';

/** A moment that somebody names on the command line, in milliseconds. */
export function parseTime(value: string): number {
  const time = /^\d+$/.test(value) ? Number(value) : Date.parse(value);
  if (Number.isSafeInteger(time) && time >= 0) return time;
  throw new InvalidArgumentError('Give a date and time, as in 2026-01-31T12:00Z, or milliseconds.');
}
