import { randomBytes } from 'node:crypto';
import {
  auth,
  discoverOAuthServerInfo,
  type OAuthClientProvider,
  refreshAuthorization,
} from '@modelcontextprotocol/sdk/client/auth.js';
import {
  InvalidClientError,
  InvalidGrantError,
  UnauthorizedClientError,
} from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Credential } from './credentials.ts';
import { isTransient, errorReason, SignInError } from './errors.ts';
import type { SavedSignIn, SignIn } from './saved-sign-in.ts';
import { openRedirectServer } from './redirect-server.ts';

export interface BrowserCredentialParts {
  address: URL;
  savedSignIn: SavedSignIn;
  fetchFn: FetchLike;
  /** Brings the address before a person. */
  openPage(address: URL): Promise<void>;
  log(line: string): void;
  signal: AbortSignal;
}

/**
 * A person's own sign-in (OAuth 2.1: authorization code with PKCE, by a client that registers itself). It is kept for the next
 * start and for other bridges; tokens are replaced before anybody is asked again. A person is asked at the start only: a sign-in
 * that ends later was ended by somebody.
 */
export function createBrowserCredential(parts: BrowserCredentialParts): Credential {
  const { address, savedSignIn, fetchFn, log, signal } = parts;
  let current: string | undefined;
  let wasIn = false;

  async function use(signIn: SignIn): Promise<string> {
    current = signIn.tokens.access_token;
    return current;
  }

  async function refreshed(signIn: SignIn): Promise<SignIn | undefined> {
    const { refresh_token, issuer } = signIn.tokens;
    if (refresh_token === undefined) return undefined;
    const server = await discoverOAuthServerInfo(address, { fetchFn });
    if (issuer !== undefined && issuer !== server.authorizationServerUrl) return undefined;
    try {
      const tokens = await refreshAuthorization(server.authorizationServerUrl, {
        ...(server.authorizationServerMetadata && { metadata: server.authorizationServerMetadata }),
        clientInformation: signIn.client,
        refreshToken: refresh_token,
        resource: server.resourceMetadata?.resource ?? address,
        fetchFn,
      });
      return { ...signIn, tokens: { ...tokens, ...(issuer !== undefined && { issuer }) } };
    } catch (error) {
      if (!isSignInEnded(error)) throw error;
      log(`the sign-in has ended (${errorReason(error)})`);
      return undefined;
    }
  }

  return {
    async token() {
      current ??= (await savedSignIn.read())?.tokens.access_token;
      return current;
    },
    renew: (refused) =>
      savedSignIn.withLock(signal, async () => {
        const known = await savedSignIn.read();
        // Another bridge was faster.
        if (known && known.tokens.access_token !== refused) return use(known);
        const fresh = known && (await refreshed(known));
        if (fresh) {
          await savedSignIn.write(fresh);
          return use(fresh);
        }
        if (wasIn) {
          throw new SignInError(
            `The sign-in at ${address.origin} has ended: it was revoked, or nobody used it for a month. Start again to sign in.`,
          );
        }
        const signIn = await signInWithBrowser(parts);
        await savedSignIn.write(signIn);
        log(`signed in at ${address.origin}; kept in ${savedSignIn.path}`);
        return use(signIn);
      }),
    onAccepted() {
      wasIn = true;
    },
  };
}

/** What the authorization server says of a sign-in that is no more. */
function isSignInEnded(error: unknown): boolean {
  return (
    error instanceof InvalidGrantError ||
    error instanceof InvalidClientError ||
    error instanceof UnauthorizedClientError
  );
}

/** @throws {SignInError} when it does not come to a sign-in. */
async function signInWithBrowser({
  address,
  fetchFn,
  openPage,
  signal,
}: BrowserCredentialParts): Promise<SignIn> {
  const wayBack = await openRedirectServer();
  const state = randomBytes(24).toString('base64url');
  let client: OAuthClientInformationMixed | undefined;
  let tokens: OAuthTokens | undefined;
  let verifier = '';
  const provider: OAuthClientProvider = {
    redirectUrl: wayBack.url,
    clientMetadata: {
      client_name: 'ams mcp-stdio',
      redirect_uris: [wayBack.url],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    state: () => state,
    clientInformation: () => client,
    saveClientInformation(given) {
      client = given;
    },
    tokens: () => undefined,
    saveTokens(given) {
      tokens = given;
    },
    saveCodeVerifier(given) {
      verifier = given;
    },
    codeVerifier: () => verifier,
    redirectToAuthorization: openPage,
  };
  try {
    const options = { serverUrl: address, fetchFn };
    const coming = wayBack.waitForCode({ state, issuer: () => client?.issuer }, signal);
    await Promise.race([auth(provider, options), coming]);
    await auth(provider, { ...options, authorizationCode: await coming });
  } catch (error) {
    if (error instanceof SignInError || isTransient(error) || signal.aborted) throw error;
    throw new SignInError(`Nobody could be signed in at ${address.origin} (${errorReason(error)}).`, {
      cause: error,
    });
  } finally {
    wayBack.close();
  }
  if (!client || !tokens) throw new SignInError(`${address.origin} gave no token.`);
  return { address: address.href, client, tokens };
}
