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
  /** Shows the sign-in page to the person. */
  openPage(address: URL): Promise<void>;
  log(text: string): void;
  signal: AbortSignal;
}

/**
 * Creates the credential of a person's sign-in (OAuth 2.1: authorization code with PKCE, dynamic client registration). The sign-in is
 * saved for the next start and for other bridges; tokens are refreshed without the person. The person is asked only at the start: a
 * sign-in that ends later was revoked.
 */
export function createBrowserCredential(parts: BrowserCredentialParts): Credential {
  const { address, savedSignIn, fetchFn, log, signal } = parts;
  let current: string | undefined;
  let wasAccepted = false;

  async function activate(signIn: SignIn): Promise<string> {
    current = signIn.tokens.access_token;
    return current;
  }

  async function refresh(signIn: SignIn): Promise<SignIn | undefined> {
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
        const saved = await savedSignIn.read();
        // Another bridge has already renewed it.
        if (saved && saved.tokens.access_token !== refused) return activate(saved);
        const refreshed = saved && (await refresh(saved));
        if (refreshed) {
          await savedSignIn.write(refreshed);
          return activate(refreshed);
        }
        if (wasAccepted) {
          throw new SignInError(
            `The sign-in at ${address.origin} has ended: it was revoked or not used for a month. Restart to sign in again.`,
          );
        }
        const signIn = await signInWithBrowser(parts);
        await savedSignIn.write(signIn);
        log(`signed in at ${address.origin}; saved in ${savedSignIn.path}`);
        return activate(signIn);
      }),
    onAccepted() {
      wasAccepted = true;
    },
  };
}

/** Whether the authorization server reports that the sign-in has ended. */
function isSignInEnded(error: unknown): boolean {
  return (
    error instanceof InvalidGrantError ||
    error instanceof InvalidClientError ||
    error instanceof UnauthorizedClientError
  );
}

/** Signs in with a browser. @throws {SignInError} if the sign-in fails */
async function signInWithBrowser({
  address,
  fetchFn,
  openPage,
  signal,
}: BrowserCredentialParts): Promise<SignIn> {
  const redirectServer = await openRedirectServer();
  const state = randomBytes(24).toString('base64url');
  let client: OAuthClientInformationMixed | undefined;
  let tokens: OAuthTokens | undefined;
  let verifier = '';
  const provider: OAuthClientProvider = {
    redirectUrl: redirectServer.url,
    clientMetadata: {
      client_name: 'ams mcp-stdio',
      redirect_uris: [redirectServer.url],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    state: () => state,
    clientInformation: () => client,
    saveClientInformation(information) {
      client = information;
    },
    tokens: () => undefined,
    saveTokens(issued) {
      tokens = issued;
    },
    saveCodeVerifier(value) {
      verifier = value;
    },
    codeVerifier: () => verifier,
    redirectToAuthorization: openPage,
  };
  try {
    const options = { serverUrl: address, fetchFn };
    const code = redirectServer.waitForCode({ state, issuer: () => client?.issuer }, signal);
    await Promise.race([auth(provider, options), code]);
    await auth(provider, { ...options, authorizationCode: await code });
  } catch (error) {
    if (error instanceof SignInError || isTransient(error) || signal.aborted) throw error;
    throw new SignInError(`The sign-in at ${address.origin} failed (${errorReason(error)}).`, {
      cause: error,
    });
  } finally {
    redirectServer.close();
  }
  if (!client || !tokens) throw new SignInError(`${address.origin} issued no token.`);
  return { address: address.href, client, tokens };
}
