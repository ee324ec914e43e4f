import type { z } from 'zod';
import { DomainError, type ErrorDetail } from '../domain/errors.ts';
import { describeIssue, listFields, toDetails } from './describe-issue.ts';

const maxDetails = 20;
const maxFieldLength = 200;
/** Deeper than any useful input; the stack allows several times as much. */
const maxDepth = 2_500;

/**
 * Parses a value by a schema.
 * @param fields the names of the fields as the caller knows them, for errors. Default: those of the schema.
 * @throws {DomainError} VALIDATION_ERROR, with every wrong field; MESSAGE_TOO_LARGE for content over its limit; INVALID_JSON for a
 * field that is named `__proto__`.
 */
export function parseInput<T>(
  schema: z.ZodType<T>,
  value: unknown,
  fields: readonly string[] = listFields(schema),
): T {
  refuseForbiddenNames(value);
  const parsed = schema.safeParse(value, { error: describeIssue });
  if (!parsed.success) throw validationError(parsed.error, fields);
  refuseUnstorable(parsed.data);
  return parsed.data;
}

function validationError({ issues }: z.ZodError, fields: readonly string[]): DomainError {
  // The list of fields comes last, and once: nothing else is said about the object as a whole.
  const unknown = issues.filter(({ code }) => code === 'unrecognized_keys');
  const others = issues.filter(
    ({ code, path }) => code !== 'unrecognized_keys' && (path.length > 0 || unknown.length === 0),
  );
  const details = [...others.filter(isClosest), ...unknown].flatMap((issue) => toDetails(issue, fields));
  const tooLarge = issues.some(
    (issue) => issue.code === 'custom' && issue.params?.['code'] === 'MESSAGE_TOO_LARGE',
  );
  return invalidInput(details, tooLarge ? 'MESSAGE_TOO_LARGE' : 'VALIDATION_ERROR');
}

/** An integer has the limits of its type before its own, so only the last limit of a field is told. */
function isClosest(issue: z.core.$ZodIssue, index: number, all: readonly z.core.$ZodIssue[]): boolean {
  const limitOf = ({ code, path }: z.core.$ZodIssue) => [code, ...path].map(String).join('.');
  const isLimit = issue.code === 'too_big' || issue.code === 'too_small';
  return !isLimit || !all.slice(index + 1).some((later) => limitOf(later) === limitOf(issue));
}

/** Returns an error that names wrong fields, at most 20. */
export function invalidInput(
  all: readonly ErrorDetail[],
  code: 'VALIDATION_ERROR' | 'MESSAGE_TOO_LARGE' | 'INVALID_JSON' = 'VALIDATION_ERROR',
): DomainError {
  const details = all
    .slice(0, maxDetails)
    .map(({ field, message }) => ({ field: field.slice(0, maxFieldLength).toWellFormed(), message }));
  const message = details.reduce((text, { field, message: problem }) => {
    const one = field ? `${field}: ${problem}` : problem;
    return text === '' ? one : `${text}${/[.?]$/.test(text) ? '' : ';'} ${one}`;
  }, '');
  return new DomainError(code, message, { details });
}

/** JavaScript gives this name a meaning of its own, and schemas drop it without an error. */
const forbiddenName = '__proto__';

/** @throws {DomainError} INVALID_JSON, as for the body of a REST request */
function refuseForbiddenNames(root: unknown): void {
  forEachValue(root, (_, field, name) => {
    if (name !== forbiddenName) return;
    throw invalidInput([{ field, message: 'is not allowed as a name' }], 'INVALID_JSON');
  });
}

/**
 * PostgreSQL stores neither NUL nor a lone surrogate; JSON has no infinite number. They are refused. So is nesting too deep for
 * `JSON.stringify`.
 */
function refuseUnstorable(root: unknown): void {
  forEachValue(root, (value, field, name, depth) => {
    if (depth > maxDepth) throw invalidInput([{ field, message: 'is nested too deeply' }]);
    requireStorable(name, field);
    if (typeof value === 'string') requireStorable(value, field);
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw invalidInput([{ field, message: 'is a number outside of the range of JSON numbers' }]);
    }
  });
}

type Visit = (value: unknown, field: string, name: string, depth: number) => void;

/** Visits every value in an object, with its path and its name. */
function forEachValue(root: unknown, visit: Visit): void {
  const stack: Parameters<Visit>[] = [[root, '', '', 0]];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [value, path, , depth] = next;
    visit(...next);
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, child] of Object.entries(value).toReversed()) {
      const field = (path ? `${path}.${name}` : name).slice(0, maxFieldLength);
      stack.push([child, field, name, depth + 1]);
    }
  }
}

function requireStorable(text: string, field: string): void {
  if (text.isWellFormed() && !text.includes('\0')) return;
  throw invalidInput([{ field, message: 'must be well-formed Unicode without NUL characters' }]);
}
