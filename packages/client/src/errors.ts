/** One field that the service refused. */
export interface FieldError {
  field: string;
  message: string;
}

/** What the service says about a refused call. */
export interface ErrorBody {
  code: string;
  message: string;
  details?: unknown;
  /** The approval that the call waits for, or that was denied. `url` is its page. */
  approval?: { id: string; expires_at: number; url: string };
  request_id?: string;
}

interface ErrorOptions {
  status?: number | undefined;
  /** How long the service asks to wait, in milliseconds. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** Every error of this library. Decide by class or `code`; the message is for people and logs. */
export class AgentMessagingError extends Error {
  override name = 'AgentMessagingError';
  readonly code: string;
  /** The HTTP status; undefined when there was no answer. */
  readonly status: number | undefined;
  readonly details: unknown;
  readonly approval: ErrorBody['approval'];
  readonly request_id: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(body: ErrorBody, { status, retryAfterMs, cause }: ErrorOptions = {}) {
    super(body.message, cause === undefined ? undefined : { cause });
    this.code = body.code;
    this.status = status;
    this.details = body.details;
    this.approval = body.approval;
    this.request_id = body.request_id;
    this.retryAfterMs = retryAfterMs;
  }
}

/** 401: the token is missing, has ended or is for another service. */
export class AuthenticationError extends AgentMessagingError {
  override name = 'AuthenticationError';
}

/** 403: the agent cannot do this. */
export class PermissionError extends AgentMessagingError {
  override name = 'PermissionError';
}

/** 202: a person must approve or review the call first. It runs then; `approval.resolved` tells the result. */
export class ApprovalRequiredError extends AgentMessagingError {
  override name = 'ApprovalRequiredError';
}

/** 404: it does not exist, or the agent cannot see it. */
export class NotFoundError extends AgentMessagingError {
  override name = 'NotFoundError';
}

/** 409: the state does not allow it. */
export class ConflictError extends AgentMessagingError {
  override name = 'ConflictError';
}

/** 429: too many calls. `retryAfterMs` says how long to wait. */
export class RateLimitError extends AgentMessagingError {
  override name = 'RateLimitError';
}

/** Any other 4xx: correct the request. `details` names the fields. */
export class ValidationError extends AgentMessagingError {
  override name = 'ValidationError';
}

/** 5xx: the service cannot answer now. */
export class UnavailableError extends AgentMessagingError {
  override name = 'UnavailableError';
}

/** No answer: the connection failed (`CONNECTION_FAILED`) or the time ran out (`TIMEOUT`). */
export class ConnectionError extends AgentMessagingError {
  override name = 'ConnectionError';
}

const classes: Record<number, typeof AgentMessagingError> = {
  202: ApprovalRequiredError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError,
};

/** Creates the error for the status of a refused call. */
export function createError(body: ErrorBody, status: number, retryAfterMs?: number): AgentMessagingError {
  const ErrorClass = classes[status] ?? (status < 500 ? ValidationError : UnavailableError);
  return new ErrorClass(body, { status, retryAfterMs });
}

/** Creates the error for a request without an answer. `fetch` fails with a TypeError. */
export function createConnectionError(cause: TypeError, address?: string): ConnectionError {
  const { message, code } = Object(cause.cause ?? cause) as { message?: string; code?: string };
  const where = address === undefined ? 'The connection' : `The connection to ${new URL(address).origin}`;
  return new ConnectionError(
    // Node gives no message where it has tried two addresses of a name.
    { code: 'CONNECTION_FAILED', message: `${where} failed: ${message || (code ?? cause.message)}` },
    { cause },
  );
}
