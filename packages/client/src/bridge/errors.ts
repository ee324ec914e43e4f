import {
  OAuthError,
  ServerError,
  TemporarilyUnavailableError,
  TooManyRequestsError,
} from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { ZodError } from 'zod';

/** Sign-in is not possible. The message is for the person who set up the bridge. */
export class SignInError extends Error {
  override name = 'SignInError';
}

/** The service responded with an error status. */
export class HttpStatusError extends Error {
  override name = 'HttpStatusError';
  readonly status: number;
  /** The JSON body, if there is one. */
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    super(`the service returned ${status}`);
    this.status = status;
    this.body = body;
  }
}

/** The session has ended (MCP, Transports: Session Management). */
export class SessionLost extends Error {
  override name = 'SessionLost';
}

/** The response stream ended before the response. */
export class StreamEnded extends Error {
  override name = 'StreamEnded';
}

/** Errors that happen before a request is sent. */
const unsentErrorCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const transientStatuses = new Set([502, 503, 504]);

/** Whether the failed request certainly did not reach the service. */
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

/** Whether fetch() got no response, or an incomplete one. */
export function isNetworkError(error: unknown): boolean {
  return (error instanceof TypeError && error.cause !== undefined) || isTimeout(error);
}

/** Returns the reason for people, in one line. */
export function errorReason(error: unknown): string {
  if (error instanceof ZodError || error instanceof SyntaxError) return 'the response is not MCP';
  if (error instanceof TypeError && error.cause instanceof Error) return errorReason(error.cause);
  const code = errorCode(error);
  const message = error instanceof Error ? error.message : String(error);
  return (message || code || 'unknown reason').split('\n', 1)[0] ?? '';
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}

function errorCode(error: unknown): string {
  const cause: unknown = error instanceof TypeError ? error.cause : error;
  const code: unknown = typeof cause === 'object' && cause !== null ? Reflect.get(cause, 'code') : '';
  return typeof code === 'string' ? code : '';
}
