import { ConcurrentChange, DomainError } from '../../packages/core/src/domain/errors.ts';
import { changeNotice } from './queryable.ts';

/** Errors for the constraints that a caller can violate, by constraint name. */
const constraints: Record<string, () => DomainError> = {
  agents_canonical_handle_unique: () =>
    new DomainError('DUPLICATE_HANDLE', 'This handle is taken; choose another agent name.'),
  owners_name_unique: () => new DomainError('DUPLICATE_HANDLE', 'This owner name is taken; choose another.'),
};

const connectionErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
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

/**
 * Converts a database error to a domain error: a known constraint to its own, a transient error to UNAVAILABLE; and a failed `requireTrue` to
 * ConcurrentChange. Returns any other error unchanged, since it is a bug.
 */
export function databaseError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DomainError) return error;
  const { code, constraint } = error as { code?: string; constraint?: string };
  const createError = code === '23505' && constraint ? constraints[constraint] : undefined;
  if (createError) return createError();
  if (error.message.includes(`"${changeNotice}"`)) return new ConcurrentChange({ cause: error });
  const isTransient =
    (code !== undefined && (connectionErrors.has(code) || transientStates.test(code))) ||
    /connection|timeout exceeded when trying to connect|query read timeout/i.test(error.message);
  if (!isTransient) return error;
  return new DomainError('UNAVAILABLE', 'The database is temporarily unavailable. Retry.', {
    cause: error,
    retry_after: 1,
  });
}
