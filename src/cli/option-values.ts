import { InvalidArgumentError } from 'commander';

/** Returns a parser for an integer option within bounds. */
export function integerInRange(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (Number.isInteger(number) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Must be an integer from ${min} to ${max}.`);
  };
}

/** Parses a time option. Returns milliseconds since the epoch. */
export function parseTime(value: string): number {
  const time = /^\d+$/.test(value) ? Number(value) : Date.parse(value);
  if (Number.isSafeInteger(time) && time >= 0) return time;
  throw new InvalidArgumentError(
    'Must be a date and time such as 2026-01-31T12:00:00Z, or milliseconds since the epoch.',
  );
}
