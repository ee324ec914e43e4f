import { createServer } from 'node:http';
import { Provider } from 'oidc-provider/lib/provider.js';
import { listen } from './listen.ts';

export const issuerClient = {
  client_id: 'ams',
  client_secret: 'a secret that is for tests and nothing else',
};

/**
 * An OpenID Connect issuer on a port of its own, with its own pages: whatever username is entered there is who signs in. Its one
 * client is the service at `redirect_uri`.
 */
export async function startIssuer(redirect_uri: string) {
  const server = createServer();
  const { url, close } = await listen(server);
  const provider = new Provider(url, {
    clients: [{ ...issuerClient, redirect_uris: [redirect_uri] }],
    findAccount: (_ctx, accountId) => ({
      accountId,
      claims: () => ({ sub: accountId, preferred_username: accountId }),
    }),
    claims: { openid: ['sub'], profile: ['preferred_username'] },
    // As many issuers do: the name is in the ID token.
    conformIdTokenClaims: false,
    cookies: { keys: ['a key of the issuer'] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: true } },
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 600, IdToken: 60, Interaction: 600, Session: 600 },
  });
  const answer = provider.callback();
  server.on('request', (request, response) => void answer(request, response));
  return { url, stop: close };
}

export type TestIssuer = Awaited<ReturnType<typeof startIssuer>>;
