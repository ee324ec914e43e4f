import {
  OAuthError,
  ServerError,
  TemporarilyUnavailableError,
  TooManyRequestsError,
} from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { ZodError } from 'zod';

/** Nobody can be signed in with what there is. The message is for whoever set the bridge up. */
export class SignInError extends Error {
  override name = 'SignInError';
}

/** The service answered, and it was no success. */
export class HttpStatusError extends Error {
  override name = 'HttpRefusal';
  readonly status: number;
  /** The JSON of the answer, when it is any. */
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    super(`the service answers ${status}`);
    this.status = status;
    this.body = body;
  }
}

/** The service does not know the session any more (MCP, Transports: Session Management). */
export class SessionLost extends Error {
  override name = 'SessionLost';
}

/** The stream of an answer ended before the answer. */
export class StreamEnded extends Error {
  override name = 'StreamEnded';
}

/** Nothing of a request has left when one of these happens. */
const unsentErrorCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const transientStatuses = new Set([502, 503, 504]);

/** Whether the service has certainly not got the request that failed so. */
export function isUnsent(error: unknown): boolean {
  return error instanceof OAuthError || unsentErrorCodes.has(errorCode(error));
}

/** Whether the same request may succeed a little later. */
export function isTransient(error: unknown): boolean {
  if (error instanceof HttpStatusError) return transientStatuses.has(error.status);
  if (error instanceof OAuthError)
    return (
      error instanceof ServerError ||
      error instanceof TemporarilyUnavailableError ||
      error instanceof TooManyRequestsError
    );
  return error instanceof StreamEnded || isNetworkError(error);
}

/** What fetch() throws when it got no answer, or not all of it. */
export function isNetworkError(error: unknown): boolean {
  return (error instanceof TypeError && error.cause !== undefined) || isTimeout(error);
}

/** Why, for people. */
export function errorReason(error: unknown): string {
  if (error instanceof ZodError || error instanceof SyntaxError) return 'what came back is no MCP';
  if (error instanceof TypeError && error.cause instanceof Error) return errorReason(error.cause);
  const code = errorCode(error);
  const message = error instanceof Error ? error.message : String(error);
  return (message || code || 'no reason was given').split('\n', 1)[0] ?? '';
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}

function errorCode(error: unknown): string {
  const cause: unknown = error instanceof TypeError ? error.cause : error;
  const code: unknown = typeof cause === 'object' && cause !== null ? Reflect.get(cause, 'code') : '';
  return typeof code === 'string' ? code : '';
}
