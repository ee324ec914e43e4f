import { isDeepStrictEqual } from 'node:util';

const types: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  array: (value) => Array.isArray(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  null: (value) => value === null,
};

type Operator = (value: unknown, expected: never) => boolean;

const size = (value: unknown): number => (Array.isArray(value) ? value.length : Number.NaN);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Each operator, with the type of its operand. A key with an operand of another type is the name of a field. */
const operators: Record<string, [operand: 'string' | 'number' | 'boolean', Operator]> = {
  type: ['string', (value, name: string) => types[name]?.(value) ?? false],
  exists: ['boolean', (value) => value !== undefined],
  absent: ['boolean', (value) => value === undefined],
  contains: ['string', (value, part: string) => text(value).includes(part)],
  matches: ['string', (value, pattern: string) => new RegExp(pattern).test(text(value))],
  starts_with: ['string', (value, part: string) => text(value).startsWith(part)],
  ends_with: ['string', (value, part: string) => text(value).endsWith(part)],
  gte: ['number', (value, limit: number) => Number(value) >= limit],
  lte: ['number', (value, limit: number) => Number(value) <= limit],
  gt: ['number', (value, limit: number) => Number(value) > limit],
  lt: ['number', (value, limit: number) => Number(value) < limit],
  count: ['number', (value, count: number) => size(value) === count],
  count_gte: ['number', (value, count: number) => size(value) >= count],
  count_lte: ['number', (value, count: number) => size(value) <= count],
};

/** What of the value is not as expected, one line each; empty if all is. */
export function findDifferences(expected: unknown, value: unknown, path = 'it'): string[] {
  if (Array.isArray(expected))
    return expected.flatMap((one, index) => findDifferences(one, read(value, index), `${path}[${index}]`));
  if (typeof expected !== 'object' || expected === null)
    return isDeepStrictEqual(value, expected) ? [] : [describe(path, value, expected)];
  return Object.entries(expected).flatMap(([key, operand]: [string, unknown]) =>
    findOne(key, operand, value, path),
  );
}

function findOne(key: string, operand: unknown, value: unknown, path: string): string[] {
  const [type, isMet] = operators[key] ?? [];
  if (isMet && typeof operand === type)
    return isMet(value, operand as never) ? [] : [describe(path, value, { [key]: operand })];
  if (key === 'all_of' && Array.isArray(operand))
    return operand.flatMap((one) => findDifferences(one, value, path));
  // The alternatives of `one_of` are values, or assertions about a whole event.
  if ((key === 'any_of' || key === 'one_of') && Array.isArray(operand)) {
    const isMetByOne = operand.some((one) => findDifferences(one, value, path).length === 0);
    return isMetByOne ? [] : [describe(path, value, { [key]: operand as unknown })];
  }
  if (key === 'not') {
    return findDifferences(operand, value, path).length > 0 ? [] : [describe(path, value, { not: operand })];
  }
  if (key === 'items' && !Array.isArray(operand) && Array.isArray(value))
    return value.flatMap((one, index) => findDifferences(operand, one, `${path}[${index}]`));
  if (key === 'items') return findDifferences(operand, value, path);
  return findDifferences(operand, read(value, key), `${path}.${key}`);
}

const read = (value: unknown, key: string | number): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;

const describe = (path: string, value: unknown, expected: unknown): string =>
  `${path} is ${JSON.stringify(value)}, not ${JSON.stringify(expected)}`;
