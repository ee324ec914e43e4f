import type { Context } from 'koa';
import { DomainError, type ErrorCode, type ErrorOptions } from '../../../packages/core/src/domain/errors.ts';
import { EarlierIsMissing } from '../../services/remote/order.ts';
import { errorHeaders } from '../http/errors.ts';

/** The errors of A2A itself (A2A 1.0, section 5.4). */
export const a2aErrors = {
  TASK_NOT_FOUND: { code: -32_001, http: 404, status: 'NOT_FOUND' },
  TASK_NOT_CANCELABLE: { code: -32_002, http: 400, status: 'FAILED_PRECONDITION' },
  UNSUPPORTED_OPERATION: { code: -32_004, http: 400, status: 'FAILED_PRECONDITION' },
  CONTENT_TYPE_NOT_SUPPORTED: { code: -32_005, http: 400, status: 'INVALID_ARGUMENT' },
  VERSION_NOT_SUPPORTED: { code: -32_009, http: 400, status: 'FAILED_PRECONDITION' },
} as const;

export type A2aReason = keyof typeof a2aErrors;

/** The errors of JSON-RPC (JSON-RPC 2.0, section 5.1). */
const rpcErrors = {
  INVALID_REQUEST: { code: -32_600, http: 400, status: 'INVALID_ARGUMENT' },
  METHOD_NOT_FOUND: { code: -32_601, http: 404, status: 'NOT_FOUND' },
} as const;

type RpcReason = keyof typeof rpcErrors;

/** The code of an error in JSON-RPC, and its status in HTTP. `isShared`: JSON-RPC uses this status too, instead of 200. */
interface Shown {
  code: number;
  http: number;
  status: string;
  isShared?: true;
}

const invalidParams: Shown = { code: -32_602, http: 400, status: 'INVALID_ARGUMENT' };
const denied: Shown = { code: -32_000, http: 403, status: 'PERMISSION_DENIED', isShared: true };
const unavailable: Shown = { code: -32_000, http: 503, status: 'UNAVAILABLE', isShared: true };
const internal: Shown = { code: -32_603, http: 500, status: 'INTERNAL', isShared: true };

/** The errors of the service. Operations of A2A throw no other code, so another one is an internal error. */
const serviceErrors: Readonly<Partial<Record<ErrorCode, Shown>>> = {
  VALIDATION_ERROR: invalidParams,
  INVALID_JSON: { code: -32_700, http: 400, status: 'INVALID_ARGUMENT' },
  INVALID_CURSOR: invalidParams,
  INVALID_HANDLE: invalidParams,
  MESSAGE_TOO_LARGE: invalidParams,
  ATTACHMENT_TOO_LARGE: invalidParams,
  ATTACHMENT_INFECTED: invalidParams,
  ATTACHMENT_NOT_FOUND: invalidParams,
  MESSAGE_NOT_FOUND: invalidParams,
  THREAD_NOT_FOUND: invalidParams,
  ATTACHMENT_ALREADY_SENT: invalidParams,
  IDEMPOTENCY_MISMATCH: invalidParams,
  UNAUTHORIZED: { code: -32_000, http: 401, status: 'UNAUTHENTICATED', isShared: true },
  INSUFFICIENT_SCOPE: denied,
  FORBIDDEN: denied,
  NOT_CONTACTS: denied,
  NOT_TRUSTED: denied,
  NOT_ALLOWED: denied,
  BLOCKED: denied,
  THREAD_CLOSED: denied,
  CANNOT_INITIATE_THREADS: denied,
  APPROVAL_REQUIRED: denied,
  APPROVAL_DENIED: denied,
  METHOD_NOT_ALLOWED: { code: -32_600, http: 405, status: 'UNIMPLEMENTED', isShared: true },
  NOT_FOUND: { code: -32_601, http: 404, status: 'NOT_FOUND' },
  AGENT_NOT_FOUND: { code: -32_000, http: 404, status: 'NOT_FOUND', isShared: true },
  PAYLOAD_TOO_LARGE: { code: -32_000, http: 413, status: 'INVALID_ARGUMENT', isShared: true },
  RATE_LIMITED: { code: -32_000, http: 429, status: 'RESOURCE_EXHAUSTED', isShared: true },
  AGENT_PAUSED: unavailable,
  UNAVAILABLE: unavailable,
  ATTACHMENT_NOT_READY: unavailable,
  IDEMPOTENCY_IN_PROGRESS: unavailable,
  INTERNAL: internal,
};

/** An error that A2A or JSON-RPC defines. */
export class A2aRefusal extends DomainError {
  override name = 'A2aRefusal';
  readonly reason: A2aReason | RpcReason;

  constructor(reason: A2aReason | RpcReason, message: string, options: ErrorOptions = {}) {
    super('VALIDATION_ERROR', message, options);
    this.reason = reason;
  }
}

/** @throws {DomainError} METHOD_NOT_ALLOWED, with the header Allow */
export function refuseVerb(ctx: Context, verbs: readonly string[], message: string): never {
  ctx.set('Allow', verbs.join(', '));
  throw new DomainError('METHOD_NOT_ALLOWED', message);
}

/** Returns the error of A2A for an error of an operation. @param ended the error for a task that has ended. */
export function toA2aRefusal(error: unknown, ended: A2aReason): unknown {
  if (!(error instanceof DomainError) || error instanceof A2aRefusal) return error;
  if (error.code === 'TASK_NOT_FOUND') return new A2aRefusal('TASK_NOT_FOUND', error.message);
  if (error.code === 'INVALID_TRANSITION') {
    const advice = ended === 'UNSUPPORTED_OPERATION' ? ' Leave out taskId to open another task.' : '';
    return new A2aRefusal(ended, `${error.message}${advice}`);
  }
  if (error.code === 'INVALID_CURSOR') {
    const problem = 'is invalid or belongs to another list; start without one';
    const details = [{ field: 'pageToken', message: problem }];
    return new DomainError('INVALID_CURSOR', `pageToken: ${problem}`, { details });
  }
  if (error.code === 'UNSUPPORTED_MEDIA_TYPE')
    return new A2aRefusal('CONTENT_TYPE_NOT_SUPPORTED', error.message, {
      ...(error.details && { details: error.details }),
    });
  return error;
}

function showError(error: DomainError): Shown & { reason: string; domain: string } {
  if (!(error instanceof A2aRefusal)) {
    const shown = serviceErrors[error.code] ?? internal;
    const reason = error instanceof EarlierIsMissing ? EarlierIsMissing.reason : error.code;
    return { ...shown, reason, domain: 'agent-messaging-service' };
  }
  const { reason } = error;
  const shown = reason in a2aErrors ? a2aErrors[reason as A2aReason] : rpcErrors[reason as RpcReason];
  return { ...shown, reason, domain: 'a2a-protocol.org' };
}

/** Returns the path of a field as google.rpc.BadRequest writes it: `message.parts[2].raw`. */
const toFieldPath = (field: string): string => field.replaceAll(/\.(\d+)(?=\.|$)/g, '[$1]');

const typeUrl = (name: string): string => `type.googleapis.com/google.rpc.${name}`;

/** The details of an error, for both bindings (google.rpc.ErrorInfo, BadRequest, RetryInfo). */
function listDetails(error: DomainError, request_id: string, toText: ErrorState['toText']): object[] {
  const { reason, domain } = showError(error);
  const fields = error.details?.map(({ field, message }) => ({
    field: toText(toFieldPath(field)),
    description: toText(message),
  }));
  return [
    { '@type': typeUrl('ErrorInfo'), reason, domain, metadata: { request_id } },
    ...(fields ? [{ '@type': typeUrl('BadRequest'), fieldViolations: fields }] : []),
    ...(error.retry_after === undefined
      ? []
      : [{ '@type': typeUrl('RetryInfo'), retryDelay: `${error.retry_after}s` }]),
  ];
}

/** The request of an error response. */
export interface ErrorState {
  binding: 'JSONRPC' | 'HTTP+JSON';
  /** Of the JSON-RPC request; null before it is known. */
  id: string | number | null;
  /** Converts texts and fields to the version of the address. */
  toText(text: string): string;
}

const withoutAddress: ErrorState = { binding: 'HTTP+JSON', id: null, toText: (text) => text };

/** Writes the error response of a request in the form of its binding. */
export function writeA2aError(ctx: Context, error: DomainError, request_id: string): void {
  const { binding, id, toText } = (ctx.state['a2a'] as ErrorState | undefined) ?? withoutAddress;
  const shown = showError(error);
  const { advice } = error;
  const text = (error.details ?? []).reduce(
    (named, { field }) => named.replace(`${field}:`, `${toFieldPath(field)}:`),
    error.message,
  );
  const message = toText(advice ? `${text} ${advice.rest}` : text);
  const details = listDetails(error, request_id, toText);
  ctx.set(errorHeaders(error));
  if (binding === 'JSONRPC') {
    ctx.status = shown.isShared ? shown.http : 200;
    ctx.type = 'application/json';
    ctx.body = JSON.stringify({ jsonrpc: '2.0', id, error: { code: shown.code, message, data: details } });
    return;
  }
  ctx.status = shown.http;
  ctx.type = 'application/a2a+json';
  ctx.body = JSON.stringify({ error: { code: shown.http, status: shown.status, message, details } });
}
