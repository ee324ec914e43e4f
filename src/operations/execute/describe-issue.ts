import leven from 'leven';
import { z } from 'zod';
import type { ErrorDetail } from '../../domain/errors.ts';

const maxFieldLength = 200;
/** Fields that are named in one error, at most. */
const maxNamed = 40;
/** Unknown fields that are reported, at most. */
const maxUnknown = 20;
/** A field is suggested for a name that differs from it in at most this share of the letters. */
const maxDifference = 0.5;

type RawIssue = z.core.$ZodRawIssue;

/** What a value must be, by the type that the schema expects. */
const typeNames: Record<string, string> = {
  string: 'must be a string',
  number: 'must be a number',
  int: 'must be an integer',
  boolean: 'must be true or false',
  array: 'must be a list',
  object: 'must be an object',
  record: 'must be an object',
};

/** What sizes count, by the type of the value. */
const units: Record<string, string> = {
  string: ' characters',
  array: ' items',
  set: ' items',
  file: ' bytes',
};

/**
 * Describes an issue in the words of this API, for `safeParse`. Messages that a schema sets itself take precedence.
 * @returns a predicate for the field, such as `must be an integer`
 */
export function describeIssue(issue: RawIssue): string {
  if (issue.input === undefined && issue.code !== 'custom') return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return typeNames[issue.expected] ?? 'has the wrong type';
    case 'too_big':
      return describeLimit(issue.origin, 'at most', issue.maximum);
    case 'too_small':
      return describeLimit(issue.origin, 'at least', issue.minimum);
    case 'invalid_value':
      return `must be one of: ${issue.values.map(String).join(', ')}`;
    case 'invalid_format':
      return issue.format === 'regex' ? 'has the wrong format' : `must be a valid ${issue.format}`;
    case 'not_multiple_of':
      return `must be a multiple of ${String(issue.divisor)}`;
    case 'custom':
    case 'invalid_element':
    case 'invalid_key':
    case 'invalid_union':
    case 'unrecognized_keys':
    default:
      return 'has an invalid value';
  }
}

function describeLimit(origin: string, limit: 'at most' | 'at least', value: number | bigint): string {
  const unit = units[origin];
  return unit === undefined ? `must be ${limit} ${value}` : `must have ${limit} ${value}${unit}`;
}

/** The wrong fields of an issue, each with a message. An unknown field gets the most similar name and the list of fields. */
export function toDetails(issue: z.core.$ZodIssue, schema: z.ZodType): ErrorDetail[] {
  const at = (...more: string[]) => [...issue.path, ...more].map(String).join('.').slice(0, maxFieldLength);
  if (issue.code !== 'unrecognized_keys') return [{ field: at(), message: issue.message }];
  const fields = issue.path.length === 0 ? listFields(schema) : [];
  return issue.keys
    .slice(0, maxUnknown)
    .map((key) => ({ field: at(key), message: describeUnknown(key, fields, 'Fields') }));
}

/** Describes an unknown name: the most similar known one, then all of them after `label`. */
export function describeUnknown(key: string, fields: readonly string[], label: string): string {
  const similar = findSimilar(key, fields);
  const hint = similar === undefined ? '' : `; did you mean ${similar}?`;
  const list = fields.length === 0 ? '' : ` ${label}: ${fields.slice(0, maxNamed).join(', ')}.`;
  return list === '' && hint === '' ? 'is unknown' : `is unknown${hint || '.'}${list}`;
}

/** The name that contains the text, is contained in it, or differs least from it. */
export function findSimilar(key: string, fields: readonly string[]): string | undefined {
  const text = key.slice(0, 64).toLowerCase();
  const ranked = fields
    .map((field) => ({ field, difference: difference(text, field) }))
    .toSorted((one, other) => one.difference - other.difference);
  const [best] = ranked;
  return best && best.difference <= maxDifference ? best.field : undefined;
}

function difference(text: string, field: string): number {
  const isPart = text.length >= 3 && (field.includes(text) || text.includes(field));
  return isPart ? 0.1 : leven(text, field) / Math.max(text.length, field.length);
}

/** The names of an object's fields; none for other schemas. */
function listFields(schema: z.ZodType): string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}
