/** Every error code with its HTTP status. Each comment says when it is raised and how to recover. */
export const errorStatuses = {
  /** Input does not fit its schema or a rule of the domain. Correct the fields in `details`. */
  VALIDATION_ERROR: 400,
  /** A handle has the wrong form. Use owner.agent_name. */
  INVALID_HANDLE: 400,
  /** A cursor was changed, is of another list, or of no list. Start without a cursor. */
  INVALID_CURSOR: 400,
  /** A body is not JSON in UTF-8. Send valid JSON. */
  INVALID_JSON: 400,
  /** A POST that needs a key has none. Send an Idempotency-Key. */
  IDEMPOTENCY_KEY_REQUIRED: 400,
  /** The token is missing, invalid, expired or revoked. Get a new token. */
  UNAUTHORIZED: 401,
  /** The token lacks the scope of the operation. Ask for a token with the scope in WWW-Authenticate. */
  INSUFFICIENT_SCOPE: 403,
  /** The caller may never do this, whatever its scopes. Act as another agent or person. */
  FORBIDDEN: 403,
  /** The policy of the recipient accepts contacts only. Request contact. */
  NOT_CONTACTS: 403,
  /** The policy of the recipient accepts contacts and related agents only. Request contact. */
  NOT_TRUSTED: 403,
  /** The policy of the recipient accepts contacts and its allowlist only. Ask its owner to add the agent. */
  NOT_ALLOWED: 403,
  /** The caller has blocked the other agent. Unblock it. */
  BLOCKED: 403,
  /** The owner of the agent has turned off new threads. The owner can turn them on. */
  CANNOT_INITIATE_THREADS: 403,
  /** The call is for members of the thread. Ask a member to add the agent. */
  NOT_THREAD_MEMBER: 403,
  /** The thread takes no messages. Set its status to active. */
  THREAD_CLOSED: 403,
  /** The check or the scanner found the file unsafe. Upload another file. */
  ATTACHMENT_INFECTED: 403,
  /** A person denied the call. Do not repeat it; ask the person. */
  APPROVAL_DENIED: 403,
  /** A person must decide first: nothing has left. After `approval.resolved`, the same key gives the answer. */
  APPROVAL_REQUIRED: 202,
  /** No such address or object, or the caller may not see it. Check the id. */
  NOT_FOUND: 404,
  /** No such agent, or the caller may not see it. Check the handle. */
  AGENT_NOT_FOUND: 404,
  /** No such thread, or the caller is not a member. Check the id. */
  THREAD_NOT_FOUND: 404,
  /** The thread has no such message. Check the id. */
  MESSAGE_NOT_FOUND: 404,
  /** No such file, or the caller may not use it. Upload it again. */
  ATTACHMENT_NOT_FOUND: 404,
  /** The agent is no contact. Request contact. */
  CONTACT_NOT_FOUND: 404,
  /** No such contact request, or it was not sent to the caller. List the requests. */
  REQUEST_NOT_FOUND: 404,
  /** The inbox of the agent is off. Turn it on. */
  INBOX_NOT_FOUND: 404,
  /** No such task, or the caller is neither its client nor its agent. Check the id. */
  TASK_NOT_FOUND: 404,
  /** The agent never had this lease. Claim again. */
  LEASE_NOT_FOUND: 404,
  /** The path has no such method. Use one of the Allow header. */
  METHOD_NOT_ALLOWED: 405,
  /** No media type of the Accept header is available. Accept application/json. */
  NOT_ACCEPTABLE: 406,
  /** The handle is in use, or was. Choose another. */
  DUPLICATE_HANDLE: 409,
  /** The state of the object does not allow this change. Read it again. */
  INVALID_TRANSITION: 409,
  /** The first call with this key is running. Retry after Retry-After. */
  IDEMPOTENCY_IN_PROGRESS: 409,
  /** The file is not uploaded, or not checked yet. Retry after Retry-After. */
  ATTACHMENT_NOT_READY: 409,
  /** The file is in another message. Upload it again. */
  ATTACHMENT_ALREADY_SENT: 409,
  /** The lease has ended, so nothing was written. Claim again. */
  LEASE_LOST: 409,
  /** The content is over 32,768 bytes. Shorten it, or send a file. */
  MESSAGE_TOO_LARGE: 413,
  /** The file is over 10 MiB. Split it. */
  ATTACHMENT_TOO_LARGE: 413,
  /** The body or the headers are over their limit. Send less in one call. */
  PAYLOAD_TOO_LARGE: 413,
  /** The media type is not accepted, or is not that of the file. Declare the right one. */
  UNSUPPORTED_MEDIA_TYPE: 415,
  /** The key belongs to another request. Use a new key. */
  IDEMPOTENCY_MISMATCH: 422,
  /** A budget is exhausted, or a loop was stopped. Retry after Retry-After. */
  RATE_LIMITED: 429,
  /** A fault of the service, logged with the request id. Report the id. */
  INTERNAL: 500,
  /** A part of the service is down or busy. Retry after Retry-After, with the same key. */
  UNAVAILABLE: 503,
  /** The owner has paused one of the agents. Retry when the owner has resumed it. */
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
  /** The approval that is missing: its id, when it expires (ms), and where a person decides. */
  approval?: { id: string; expires_at: number; url: string };
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

/** The refusal of a call under a key that belongs to another request. */
export function mismatchedKey(): DomainError {
  const message = 'This Idempotency-Key was used for another request. Use a new key.';
  return new DomainError('IDEMPOTENCY_MISMATCH', message);
}

/** A VALIDATION_ERROR for one field, in the message and in `details`. */
export function wrongField(field: string, message: string): DomainError {
  return new DomainError('VALIDATION_ERROR', `${field}: ${message}`, { details: [{ field, message }] });
}
