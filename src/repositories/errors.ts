import { DomainError } from '../domain/errors.ts';

/** Constraint names that mean something to a caller, told in the words of the house. The one place that knows them. */
const constraints: Record<string, () => DomainError> = {
  agents_canonical_handle_unique: () =>
    new DomainError('DUPLICATE_HANDLE', 'This handle is taken; choose another agent name.'),
  owners_name_unique: () => new DomainError('DUPLICATE_HANDLE', 'This owner name is taken; choose another.'),
};

const connectionFaults = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EAI_AGAIN',
]);
/** SQLSTATE classes: 08 connection, 53 resources, 57 operator intervention; 55P03 lock wait, 40xxx serialization and deadlock. */
const passingStates = /^(08|53|57|40)|^55P03$/;

/**
 * Turns a fault of the database into a domain error: a known constraint into its own, a passing fault into UNAVAILABLE.
 * Everything else is a fault of ours and comes back as it is.
 */
export function databaseError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DomainError) return error;
  const { code, constraint } = error as { code?: string; constraint?: string };
  const known = code === '23505' && constraint ? constraints[constraint] : undefined;
  if (known) return known();
  const passing =
    (code !== undefined && (connectionFaults.has(code) || passingStates.test(code))) ||
    /connection|timeout exceeded when trying to connect|query read timeout/i.test(error.message);
  if (!passing) return error;
  return new DomainError('UNAVAILABLE', 'The database does not answer just now; try again.', {
    cause: error,
    retry_after: 1,
  });
}
