import { InvalidArgumentError } from 'commander';

/** Parses a whole number of an option, within bounds. */
export function integerInRange(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Give ${least} to ${most}.`);
  };
}

/** A moment that somebody names on the command line, in milliseconds. */
export function parseTime(value: string): number {
  const time = /^\d+$/.test(value) ? Number(value) : Date.parse(value);
  if (Number.isSafeInteger(time) && time >= 0) return time;
  throw new InvalidArgumentError('Give a date and time, as in 2026-01-31T12:00Z, or milliseconds.');
}
