/** Every error code with its HTTP status. */
export const errorStatuses = {
  VALIDATION_ERROR: 400,
  INVALID_HANDLE: 400,
  INVALID_CURSOR: 400,
  INVALID_JSON: 400,
  IDEMPOTENCY_KEY_REQUIRED: 400,
  UNAUTHORIZED: 401,
  INSUFFICIENT_SCOPE: 403,
  FORBIDDEN: 403,
  NOT_CONTACTS: 403,
  NOT_TRUSTED: 403,
  NOT_ALLOWED: 403,
  BLOCKED: 403,
  CANNOT_INITIATE_THREADS: 403,
  NOT_THREAD_MEMBER: 403,
  THREAD_CLOSED: 403,
  ATTACHMENT_INFECTED: 403,
  APPROVAL_DENIED: 403,
  APPROVAL_REQUIRED: 403,
  NOT_FOUND: 404,
  AGENT_NOT_FOUND: 404,
  THREAD_NOT_FOUND: 404,
  MESSAGE_NOT_FOUND: 404,
  ATTACHMENT_NOT_FOUND: 404,
  CONTACT_NOT_FOUND: 404,
  REQUEST_NOT_FOUND: 404,
  INBOX_NOT_FOUND: 404,
  LEASE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  NOT_ACCEPTABLE: 406,
  DUPLICATE_HANDLE: 409,
  INVALID_TRANSITION: 409,
  IDEMPOTENCY_IN_PROGRESS: 409,
  ATTACHMENT_NOT_READY: 409,
  ATTACHMENT_ALREADY_SENT: 409,
  LEASE_LOST: 409,
  MESSAGE_TOO_LARGE: 413,
  ATTACHMENT_TOO_LARGE: 413,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_MISMATCH: 422,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  AGENT_PAUSED: 503,
} as const;

export type ErrorCode = keyof typeof errorStatuses;

export interface ErrorDetail {
  /** The path of the invalid field, for example `attachment_ids.3`. */
  field: string;
  message: string;
  /** A reason for programs, where the code alone is not specific. */
  reason?: 'loop';
}

export interface ErrorOptions {
  details?: ErrorDetail[];
  /** Seconds until a retry can succeed; sent as `Retry-After`. */
  retry_after?: number;
  /** The missing scope; sent in `WWW-Authenticate`. */
  scope?: string;
  /** The approval that is missing: its id, and when it expires (ms). */
  approval?: { id: string; expires_at: number };
  /** What to do next, for REST and for callers that name operations: WebSocket calls and MCP. */
  advice?: { rest: string; call: string };
  /** The agents whose loop was stopped. Not for the caller. */
  stopped_loop?: { sender_id: string; recipient_id: string };
  cause?: unknown;
}

/** The error that operations throw on purpose. Its message is for the caller and safe to show. */
export class DomainError extends Error {
  override name = 'DomainError';
  readonly code: ErrorCode;
  readonly details: ErrorDetail[] | undefined;
  readonly retry_after: number | undefined;
  readonly scope: string | undefined;
  readonly approval: ErrorOptions['approval'];
  readonly advice: ErrorOptions['advice'];
  readonly stopped_loop: ErrorOptions['stopped_loop'];

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    // Texts that quote input may have half of a surrogate pair.
    super(message.toWellFormed(), { cause: options.cause });
    this.code = code;
    this.details = options.details?.map((detail) => ({
      ...detail,
      field: detail.field.toWellFormed(),
      message: detail.message.toWellFormed(),
    }));
    this.retry_after = options.retry_after;
    this.scope = options.scope;
    this.approval = options.approval;
    this.advice = options.advice;
    this.stopped_loop = options.stopped_loop;
  }

  get status(): number {
    return errorStatuses[this.code];
  }
}

/**
 * A transaction relied on something that another one has changed. Nothing of it stays; run it again and read everything first. No caller of
 * the service gets this error.
 */
export class ConcurrentChange extends Error {
  override name = 'ConcurrentChange';

  constructor(options?: { cause: unknown }) {
    super('what this transaction relied on has changed', options);
  }
}

/** A VALIDATION_ERROR for one field, in the message and in `details`. */
export function wrongField(field: string, message: string): DomainError {
  return new DomainError('VALIDATION_ERROR', `${field}: ${message}`, { details: [{ field, message }] });
}
