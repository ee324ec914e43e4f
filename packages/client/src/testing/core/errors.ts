import { DomainError } from '../../../../core/src/domain/errors.ts';

/** The JSON body of a refusal. */
export function errorBody(
  { code, message, details, approval }: DomainError,
  request_id: string,
): { error: object } {
  return { error: { code, message, ...(details && { details }), ...(approval && { approval }), request_id } };
}

/** Anything thrown as a refusal. A fault of the fake service is INTERNAL with its message: it runs in a test. */
export function toDomainError(thrown: unknown): DomainError {
  if (thrown instanceof DomainError) return thrown;
  return new DomainError('INTERNAL', `The fake service failed: ${String(thrown)}`);
}
