import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Credential } from './credentials.ts';
import { HttpStatusError, SessionLost, SignInError } from './errors.ts';

/**
 * Returns a fetch that adds the access token. After 401 it renews the token, once for concurrent requests, and repeats the request.
 * @throws {SignInError}; HttpStatusError and SessionLost for error statuses; the errors of fetch()
 */
export function createServiceFetch(credential: Credential, fetchFn: FetchLike): FetchLike {
  let renewing: Promise<string> | undefined;

  function renewOnce(refused: string | undefined): Promise<string> {
    renewing ??= credential.renew(refused).finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  async function send(url: string | URL, init: RequestInit | undefined, token: string): Promise<Response> {
    const headers = new Headers(init?.headers);
    headers.set('Authorization', `Bearer ${token}`);
    const response = await fetchFn(url, { ...init, headers });
    if (response.status !== 401) {
      credential.onAccepted();
      return requireSuccess(response, headers, init?.method);
    }
    await response.body?.cancel();
    return response;
  }

  return async (url, init) => {
    const token = (await credential.token()) ?? (await renewOnce(undefined));
    const first = await send(url, init, token);
    if (first.status !== 401) return first;
    const second = await send(url, init, await renewOnce(token));
    if (second.status !== 401) return second;
    throw new SignInError(`A new access token was also refused; it is not valid for ${String(url)}.`);
  };
}

/** Redirects and 405 for GET are left to the SDK transport. */
async function requireSuccess(response: Response, sent: Headers, method = 'GET'): Promise<Response> {
  const { ok, status } = response;
  if (ok || (status >= 300 && status < 400) || (status === 405 && method !== 'POST')) return response;
  const text = await response.text();
  if (status === 404 && sent.has('mcp-session-id')) throw new SessionLost('the session has ended');
  throw new HttpStatusError(status, parseJson(text));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // for example the error page of a proxy
  }
}
