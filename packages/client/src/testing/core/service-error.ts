import contract from '../contract.json' with { type: 'json' };

export type ErrorCode = keyof typeof contract.error_statuses;

export interface ErrorDetail {
  field: string;
  message: string;
}

interface ErrorOptions {
  details?: ErrorDetail[];
  /** Seconds. */
  retry_after?: number;
  /** The missing scope, for the challenge. */
  scope?: string;
}

/** A refusal of the fake service, in the form of the contract. */
export class ServiceError extends Error {
  override name = 'ServiceError';
  readonly code: string;
  readonly status: number;
  readonly options: ErrorOptions;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message);
    this.code = code;
    this.status = contract.error_statuses[code];
    this.options = options;
  }

  /** The JSON body of the answer. */
  body(request_id: string): { error: object } {
    const { code, message, options } = this;
    return { error: { code, message, ...(options.details && { details: options.details }), request_id } };
  }
}

/** A VALIDATION_ERROR for one field. */
export function wrongField(field: string, message: string): ServiceError {
  return new ServiceError('VALIDATION_ERROR', `${field}: ${message}`, { details: [{ field, message }] });
}

/** Anything thrown as a refusal. A fault of the fake service is INTERNAL with its message: it runs in a test. */
export function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  return new ServiceError('INTERNAL', `The fake service failed: ${String(thrown)}`);
}
