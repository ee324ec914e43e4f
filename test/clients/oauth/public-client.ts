import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type Configuration,
  dynamicClientRegistration,
  None,
  randomPKCECodeVerifier,
  randomState,
  type TokenEndpointResponse,
} from 'openid-client';

/** Discovers the authorization server (RFC 8414) and registers a public client there (RFC 7591). */
export function register(url: string, client_name: string, redirect_uri: string): Promise<Configuration> {
  const metadata = { client_name, redirect_uris: [redirect_uri], token_endpoint_auth_method: 'none' };
  const options = { algorithm: 'oauth2' as const, execute: [allowInsecureRequests] };
  return dynamicClientRegistration(new URL(url), metadata, None(), options);
}

/** Authorization code with PKCE; `visit` takes a person there and answers where the browser was sent. */
export async function signIn(
  client: Configuration,
  params: Record<string, string>,
  visit: (address: URL) => Promise<URL>,
): Promise<TokenEndpointResponse> {
  const pkceCodeVerifier = randomPKCECodeVerifier();
  const expectedState = randomState();
  const address = buildAuthorizationUrl(client, {
    ...params,
    state: expectedState,
    code_challenge: await calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  });
  return authorizationCodeGrant(client, await visit(address), { pkceCodeVerifier, expectedState });
}
