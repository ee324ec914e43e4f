import { auth } from '@modelcontextprotocol/sdk/client/auth.js';
import { ClientCredentialsProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isTransient, errorReason, SignInError } from './errors.ts';

/** Creates a credential from a given token, which cannot be renewed. */
export function createTokenCredential(token: string, address: URL): Credential {
  return {
    token: async () => token,
    async renew() {
      throw new SignInError(
        `The access token in AMS_TOKEN was refused: it has expired, was revoked, or is not for ${address.href}. Tokens expire after 15 minutes; use AMS_CLIENT_ID and AMS_CLIENT_SECRET, or sign in with a browser.`,
      );
    },
    onAccepted() {},
  };
}

export interface ClientCredentials {
  client_id: string;
  client_secret: string;
  /** Separated by spaces; default: all scopes of the credential. */
  scopes?: string | undefined;
}

/** Creates a client credential (OAuth 2.1, Client Credentials). The secret is sent only to the authorization server of `address`. */
export function createClientCredential(
  { client_id, client_secret, scopes }: ClientCredentials,
  { address, issuer, fetchFn }: { address: URL; issuer: string; fetchFn: FetchLike },
): Credential {
  const provider = new ClientCredentialsProvider({
    clientId: client_id,
    clientSecret: client_secret,
    expectedIssuer: issuer,
    clientName: 'ams mcp-stdio',
    ...(scopes !== undefined && { scope: scopes }),
  });
  return {
    token: async () => provider.tokens()?.access_token,
    async renew(refused) {
      const current = provider.tokens()?.access_token;
      if (current !== undefined && current !== refused) return current;
      try {
        await auth(provider, { serverUrl: address, fetchFn });
      } catch (error) {
        if (isTransient(error)) throw error;
        throw new SignInError(
          `AMS_CLIENT_ID and AMS_CLIENT_SECRET were refused (${errorReason(error)}): the credential is unknown to ${issuer} or was revoked.`,
          { cause: error },
        );
      }
      return provider.tokens()?.access_token ?? '';
    },
    onAccepted() {},
  };
}

/** The way the bridge signs in. */
export interface Credential {
  /** Returns the current access token; undefined if there is none yet. */
  token(): Promise<string | undefined>;
  /**
   * Gets a new access token, after `refused` was refused or as the first one.
   * @throws {SignInError} if sign-in fails; network errors unchanged
   */
  renew(refused: string | undefined): Promise<string>;
  /** Called when the service accepts a token. */
  onAccepted(): void;
}
