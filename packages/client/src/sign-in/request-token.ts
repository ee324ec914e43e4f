import { createDeadline } from '../calls/deadline.ts';
import type { Fetch } from '../calls/request.ts';
import { AuthenticationError, createError, type ErrorBody } from '../errors.ts';

export interface TokenAnswer {
  access_token: string;
  /** Seconds. */
  expires_in: number;
  refresh_token?: string;
}

/**
 * Requests a token of the authorization server (RFC 6749). A refusal is an AuthenticationError with the code SIGN_IN_FAILED, a time-out a
 * ConnectionError.
 */
export async function requestToken(
  fetch: Fetch,
  url: string,
  form: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<TokenAnswer> {
  const { signal, clear } = createDeadline(timeoutMs);
  const { ok, status, answer } = await fetch(`${url}/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
    signal,
  })
    .then(async (response) => ({
      ok: response.ok,
      status: response.status,
      answer: parseAnswer(await response.text()),
    }))
    .finally(clear);
  if (ok && answer.access_token !== undefined) {
    const { access_token, expires_in = 900, refresh_token } = answer;
    return { access_token, expires_in, ...(refresh_token !== undefined && { refresh_token }) };
  }
  const { error, error_description = typeof error === 'object' ? error?.message : error } = answer;
  const reason = error_description ?? `status ${status}`;
  const body = { code: 'SIGN_IN_FAILED', message: `No access token was issued: ${reason}` };
  if (status !== 429 && status < 500) throw new AuthenticationError(body, { status });
  throw createError({ ...body, code: status === 429 ? 'RATE_LIMITED' : 'UNAVAILABLE' }, status);
}

/** `error` is an object if a load balancer answered with an error of the API. */
type ParsedAnswer = Partial<TokenAnswer> & {
  error?: string | Partial<ErrorBody>;
  error_description?: string;
};

function parseAnswer(text: string): ParsedAnswer {
  try {
    return JSON.parse(text) as ParsedAnswer;
  } catch {
    return {}; // the status says what is wrong
  }
}
