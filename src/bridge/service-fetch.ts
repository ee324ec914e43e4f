import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Credential } from './credentials.ts';
import { HttpStatusError, SessionLost, SignInError } from './errors.ts';

/**
 * Requests to the tool server with a token. One that is refused is replaced, once for all requests that find out together, and the
 * request repeated: it was not looked at.
 * @throws {SignInError}; HttpRefusal and SessionLost for answers that are no success; what fetch() throws.
 */
export function createServiceFetch(credential: Credential, plain: FetchLike): FetchLike {
  let renewing: Promise<string> | undefined;

  function renewed(refused: string | undefined): Promise<string> {
    renewing ??= credential.renew(refused).finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  async function send(url: string | URL, init: RequestInit | undefined, token: string): Promise<Response> {
    const headers = new Headers(init?.headers);
    headers.set('Authorization', `Bearer ${token}`);
    const response = await plain(url, { ...init, headers });
    if (response.status !== 401) {
      credential.onAccepted();
      return requireSuccess(response, headers, init?.method);
    }
    await response.body?.cancel();
    return response;
  }

  return async (url, init) => {
    const token = (await credential.token()) ?? (await renewed(undefined));
    const first = await send(url, init, token);
    if (first.status !== 401) return first;
    const second = await send(url, init, await renewed(token));
    if (second.status !== 401) return second;
    throw new SignInError(`A fresh access token is refused too: it is not for ${String(url)}.`);
  };
}

/** The transport of the SDK knows what to do with redirects, and with a server without a stream. */
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
    return undefined; // a page of a proxy, perhaps
  }
}
