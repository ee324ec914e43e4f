import type { Fetch } from '../calls/request.ts';
import { requestToken } from './request-token.ts';
import type { ClientCredentials, TokenSource } from './types.ts';

/** A token is renewed when this part of its life is over. */
const renewAfter = 0.8;

/** Creates tokens from client credentials: one request at a time, and none while the last token is good. */
export function createClientCredentialSource(
  { clientId, clientSecret, scopes }: ClientCredentials,
  url: string,
  fetch: Fetch,
  timeoutMs: number,
): TokenSource {
  let current: { token: string; renewAt: number; endsAt: number } | undefined;
  let flight: Promise<string> | undefined;

  async function renew(): Promise<string> {
    const startedAt = Date.now();
    const form = {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      ...(scopes && { scope: scopes.join(' ') }),
    };
    const { access_token, expires_in } = await requestToken(fetch, url, form, timeoutMs);
    const lifeMs = expires_in * 1_000;
    current = { token: access_token, renewAt: startedAt + lifeMs * renewAfter, endsAt: startedAt + lifeMs };
    return access_token;
  }

  return async (refused) => {
    if (current && current.token !== refused && Date.now() < current.renewAt) return current.token;
    flight ??= renew().finally(() => {
      flight = undefined;
    });
    try {
      return await flight;
    } catch (error) {
      // The last token is good for a while: the next call tries again.
      if (current && current.token !== refused && Date.now() < current.endsAt) return current.token;
      throw error;
    }
  };
}
