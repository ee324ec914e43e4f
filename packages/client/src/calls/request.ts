import {
  AgentMessagingError,
  AuthenticationError,
  createConnectionError,
  RateLimitError,
} from '../errors.ts';
import type { TokenSource } from '../sign-in/types.ts';
import { backOffMs, wait } from './back-off.ts';
import { createDeadline, type Deadline } from './deadline.ts';
import { readError } from './read-response.ts';
import type { CallOptions } from './types.ts';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** One request, which can be sent several times. */
export interface RequestParts {
  method: string;
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** Creates the body for each attempt. */
  body?: () => NonNullable<RequestInit['body']>;
  /** Whether a second attempt has no second effect. */
  isSafe: boolean;
  /** The body can be read once, so there is no second attempt. */
  isOnePass?: boolean;
}

/** Sends a request and its retries, and reads the answer. */
export type Send = <T>(
  parts: RequestParts,
  options: CallOptions | undefined,
  read: (response: Response) => Promise<T>,
) => Promise<T>;

export interface SendSettings {
  fetch: Fetch;
  getToken: TokenSource;
  timeoutMs: number;
  maxRetries: number;
}

/** A longer wait is left to the caller: the error says how long it is. */
const maxRetryAfterMs = 60_000;

/** Creates the function through which every request is sent. */
export function createSend(settings: SendSettings): Send {
  return async function send(parts, options = {}, read) {
    const deadline = createDeadline(options.timeoutMs ?? settings.timeoutMs, options.signal);
    const maxRetries = options.maxRetries ?? settings.maxRetries;
    let refused: RefusedToken | undefined;
    try {
      for (let failures = 0; ;) {
        const attempt = await tryOnce(settings, parts, deadline, refused, read);
        if (!('error' in attempt)) return attempt.value;
        const { error, token } = attempt;
        // A second token is tried at once, but only one.
        if (error instanceof AuthenticationError && refused === undefined && token !== undefined) {
          refused = { token, error };
          continue;
        }
        failures += 1;
        const isScan = error.code === 'ATTACHMENT_NOT_READY';
        if (!canRetry(error, parts) || (failures > maxRetries && !isScan)) throw error;
        const waitMs = Math.max(error.retryAfterMs ?? 0, backOffMs(failures));
        // The reason says more than a time-out in the middle of the wait.
        if (waitMs >= deadline.remainingMs()) throw error;
        await wait(waitMs, deadline.signal);
      }
    } finally {
      deadline.clear();
    }
  };
}

/** A token, and how the service refused it. */
interface RefusedToken {
  token: string;
  error: AuthenticationError;
}

type Attempt<T> = { value: T } | { error: AgentMessagingError; token: string | undefined };

async function tryOnce<T>(
  { fetch, getToken }: SendSettings,
  { method, url, headers, body, isOnePass }: RequestParts,
  deadline: Deadline,
  refused: RefusedToken | undefined,
  read: (response: Response) => Promise<T>,
): Promise<Attempt<T>> {
  let token: string | undefined;
  try {
    token = await Promise.race([deadline.ended, getToken(refused?.token)]);
    if (refused && (token === refused.token || isOnePass)) throw refused.error;
    deadline.check();
    const response = await fetch(url, {
      method,
      headers: { ...headers, Authorization: `Bearer ${token}` },
      signal: deadline.signal,
      ...(body && { body: body(), duplex: 'half' }),
    });
    if (!response.ok || response.status === 202) return { error: await readError(response), token };
    return { value: await read(response) };
  } catch (error) {
    deadline.check();
    if (error instanceof AgentMessagingError) return { error, token: undefined };
    // Failures of fetch are TypeErrors. Others are faults of a callback.
    if (!(error instanceof TypeError)) throw error;
    return { error: createConnectionError(error, url), token: undefined };
  }
}

/** Refused before it ran: always. Unknown, or failed: if a second attempt has no second effect. */
function canRetry(error: AgentMessagingError, { isSafe, isOnePass }: RequestParts): boolean {
  if (isOnePass || (error.retryAfterMs ?? 0) > maxRetryAfterMs) return false;
  if (error instanceof RateLimitError) return !isLoop(error);
  if (!isSafe) return false;
  if (error.status === undefined || error.status >= 500) return error.code !== 'TIMEOUT';
  return error.status === 409 && error.retryAfterMs !== undefined;
}

/** Two agents that answer each other too fast: sending again would continue that. */
function isLoop({ details }: AgentMessagingError): boolean {
  return JSON.stringify(details ?? null).includes('"loop"');
}
