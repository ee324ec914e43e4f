import { ConcurrentChange, DomainError } from '../../packages/core/src/domain/errors.ts';
import { concurrentChangeState } from './queryable.ts';

/** Errors for the constraints that a caller can violate, by constraint name. */
const constraints: Record<string, () => DomainError> = {
  agents_canonical_handle_unique: () =>
    new DomainError('DUPLICATE_HANDLE', 'This handle is taken; choose another agent name.'),
  owners_name_unique: () => new DomainError('DUPLICATE_HANDLE', 'This owner name is taken; choose another.'),
};

/** Codes of Node.js. Connection errors of the driver itself have 08006 (`openDatabase`). */
const connectionErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EAI_AGAIN',
]);
/**
 * SQLSTATE classes: 08 connection, 53 resources (53100: the disk is full), 57 operator intervention, 40 serialization and deadlock;
 * 55P03 lock wait; 25006 a server that takes no writes now, for example during a failover.
 */
const transientStates = /^(08|53|57|40)|^55P03$|^25006$/;

/** 22021, 22P05: text with NUL, which only input that no schema has parsed can have, such as a parameter of a page. */
const unstorableStates = /^22(?:021|P05)$/;

/** Whether a row was refused because its key exists. */
export const isDuplicateKey = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '23505';

/**
 * Converts a database error to a domain error: a known constraint to its own, a transient error to UNAVAILABLE, and a failed `requireTrue` to
 * ConcurrentChange. It goes by codes, never by words of a message. Returns any other error unchanged, since it is a bug.
 */
export function databaseError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DomainError) return error;
  const { code, constraint } = error as { code?: string; constraint?: string };
  const createError = isDuplicateKey(error) && constraint ? constraints[constraint] : undefined;
  if (createError) return createError();
  if (code !== undefined && unstorableStates.test(code)) {
    const message = 'The request has a NUL character. Send text without it.';
    return new DomainError('VALIDATION_ERROR', message, { cause: error });
  }
  if (code === concurrentChangeState) return new ConcurrentChange({ cause: error });
  const isTransient = code !== undefined && (connectionErrors.has(code) || transientStates.test(code));
  if (!isTransient) return error;
  return new DomainError('UNAVAILABLE', 'The database is temporarily unavailable. Retry.', {
    cause: error,
    retry_after: 1,
  });
}
