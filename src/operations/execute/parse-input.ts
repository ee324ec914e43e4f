import type { z } from 'zod';
import { DomainError, type ErrorDetail } from '../../domain/errors.ts';
import { describeIssue, toDetails } from './describe-issue.ts';
import type { Answer, CallContext, Next } from './context.ts';

const maxDetails = 20;
const maxFieldLength = 200;
/** Deeper than any useful input; the stack allows several times as much. */
const maxDepth = 2_500;

/** Parses the input by the schema of the operation. @throws {DomainError} as `parseInput` */
export async function parseInputStage(context: CallContext, next: Next): Promise<Answer> {
  context.input = parseInput(context.call.operation.input, context.call.input);
  return next();
}

/**
 * Parses a value by a schema.
 * @throws {DomainError} VALIDATION_ERROR, with every wrong field; MESSAGE_TOO_LARGE for content over its limit.
 */
export function parseInput<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value, { error: describeIssue });
  if (!parsed.success) throw validationError(parsed.error, schema);
  refuseUnstorable(parsed.data);
  return parsed.data;
}

function validationError({ issues }: z.ZodError, schema: z.ZodType): DomainError {
  const details = issues.flatMap((issue) => toDetails(issue, schema)).slice(0, maxDetails);
  const tooLarge = issues.some(
    (issue) => issue.code === 'custom' && issue.params?.['code'] === 'MESSAGE_TOO_LARGE',
  );
  return createInputError(tooLarge ? 'MESSAGE_TOO_LARGE' : 'VALIDATION_ERROR', details);
}

function createInputError(
  code: 'VALIDATION_ERROR' | 'MESSAGE_TOO_LARGE',
  details: ErrorDetail[],
): DomainError {
  const message = details.map((detail) =>
    detail.field ? `${detail.field}: ${detail.message}` : detail.message,
  );
  return new DomainError(code, message.join('; '), { details });
}

/** PostgreSQL stores neither NUL nor a lone surrogate; both are refused. So is nesting too deep for `JSON.stringify`. */
function refuseUnstorable(root: unknown): void {
  const stack: [path: string, value: unknown, depth: number][] = [['', root, 0]];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [path, value, depth] = next;
    if (depth > maxDepth)
      throw createInputError('VALIDATION_ERROR', [{ field: path, message: 'is nested too deeply' }]);
    if (typeof value === 'string') requireStorable(value, path);
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, child] of Object.entries(value).toReversed()) {
      const field = (path ? `${path}.${key}` : key).slice(0, maxFieldLength);
      requireStorable(key, field);
      stack.push([field, child, depth + 1]);
    }
  }
}

function requireStorable(text: string, field: string): void {
  if (text.isWellFormed() && !text.includes('\0')) return;
  const message = 'must be well-formed Unicode without NUL characters';
  throw createInputError('VALIDATION_ERROR', [{ field, message }]);
}
