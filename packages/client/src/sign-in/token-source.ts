import type { Fetch } from '../calls/request.ts';
import { AuthenticationError } from '../errors.ts';
import { createClientCredentialSource } from './client-credentials.ts';
import type { Auth, TokenSource } from './types.ts';

/** Creates the source of tokens of a client. `url` is the address of the service. */
export function createTokenSource(auth: Auth, url: string, fetch: Fetch, timeoutMs: number): TokenSource {
  if (typeof auth === 'string') return () => auth;
  if (typeof auth === 'function') return auth;
  if ('clientId' in auth) return createClientCredentialSource(auth, url, fetch, timeoutMs);
  return () => {
    throw new AuthenticationError({
      code: 'UNAUTHORIZED',
      message: 'A client with tickets receives events only. Calls need a token or credentials.',
    });
  };
}
