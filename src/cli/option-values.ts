import { InvalidArgumentError } from 'commander';

/** Parses a whole number of an option, within bounds. */
export function integerInRange(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Give ${least} to ${most}.`);
  };
}
