import type { z } from 'zod';
import { DomainError, type ErrorDetail } from '../../domain/errors.ts';

const maxDetails = 20;
const maxFieldLength = 200;
/** Deeper than anything that has a place to go; the stack bears several times that. */
const maxDepth = 2_500;

/**
 * What came over the wire as a schema wants it, or a refusal that names every field at fault.
 * @throws {DomainError} VALIDATION_ERROR; MESSAGE_TOO_LARGE for content over its limit.
 */
export function parseInput<T>(schema: z.ZodType<T>, given: unknown): T {
  const parsed = schema.safeParse(given);
  if (!parsed.success) throw validationError(parsed.error);
  refuseUnstorable(parsed.data);
  return parsed.data;
}

function validationError({ issues }: z.ZodError): DomainError {
  const details = issues.flatMap(detailsOf).slice(0, maxDetails);
  const tooLarge = issues.some(
    (issue) => issue.code === 'custom' && issue.params?.['code'] === 'MESSAGE_TOO_LARGE',
  );
  return refusal(tooLarge ? 'MESSAGE_TOO_LARGE' : 'VALIDATION_ERROR', details);
}

function detailsOf(issue: z.core.$ZodIssue): ErrorDetail[] {
  const at = (...more: string[]) => [...issue.path, ...more].map(String).join('.').slice(0, maxFieldLength);
  if (issue.code !== 'unrecognized_keys') return [{ field: at(), message: issue.message }];
  const unknown = issue.keys.slice(0, maxDetails);
  return unknown.map((key) => ({ field: at(key), message: 'is not a field of this request' }));
}

function refusal(code: 'VALIDATION_ERROR' | 'MESSAGE_TOO_LARGE', details: ErrorDetail[]): DomainError {
  const message = details.map((detail) =>
    detail.field ? `${detail.field}: ${detail.message}` : detail.message,
  );
  return new DomainError(code, message.join('; '), { details });
}

/**
 * PostgreSQL stores neither NUL nor half of a surrogate pair; both are refused rather than altered. So is what nests so deep that
 * JSON could not be written from it again.
 */
function refuseUnstorable(whole: unknown): void {
  const left: [path: string, value: unknown, depth: number][] = [['', whole, 0]];
  for (let next = left.pop(); next; next = left.pop()) {
    const [path, value, depth] = next;
    if (depth > maxDepth) throw refusal('VALIDATION_ERROR', [{ field: path, message: 'nests too deep' }]);
    if (typeof value === 'string') requireStorable(value, path);
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, child] of Object.entries(value).toReversed()) {
      const field = (path ? `${path}.${key}` : key).slice(0, maxFieldLength);
      requireStorable(key, field);
      left.push([field, child, depth + 1]);
    }
  }
}

function requireStorable(text: string, field: string): void {
  if (text.isWellFormed() && !text.includes('\0')) return;
  const message = 'must be well-formed Unicode without NUL characters';
  throw refusal('VALIDATION_ERROR', [{ field, message }]);
}
