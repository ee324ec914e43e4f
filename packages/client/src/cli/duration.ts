import { InvalidArgumentError } from 'commander';

const unitSeconds = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Parses a duration such as 90s, 30m, 2h or 3d. @returns seconds */
export function parseDuration(value: string): number {
  const { count, unit } = /^(?<count>\d{1,7})(?<unit>[smhd])$/.exec(value)?.groups ?? {};
  if (count === undefined) throw new InvalidArgumentError('Must be a number with s, m, h or d, such as 2h.');
  return Number(count) * unitSeconds[unit as keyof typeof unitSeconds];
}
