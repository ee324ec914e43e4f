import { InvalidArgumentError } from 'commander';

/**
 * Returns a parser for an integer option within bounds, for `option` of commander.
 *
 * In a file of its own: the bridge starts often, and needs nothing of the client library.
 */
export function integerInRange(min: number, max: number): (value: string) => number {
  return function parseInteger(value) {
    const number = Number(value);
    if (Number.isInteger(number) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Must be an integer from ${min} to ${max}.`);
  };
}
