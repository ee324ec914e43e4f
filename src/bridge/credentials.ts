import { auth } from '@modelcontextprotocol/sdk/client/auth.js';
import { ClientCredentialsProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isTransient, errorReason, SignInError } from './errors.ts';

/** A token that somebody else got. Nothing can be done when it ends. */
export function createTokenCredential(token: string, address: URL): Credential {
  return {
    token: async () => token,
    async renew() {
      throw new SignInError(
        `The access token in AMS_TOKEN is refused: it has ended, was revoked, or is not for ${address.href}. Tokens live 15 minutes; AMS_CLIENT_ID and AMS_CLIENT_SECRET, or signing in by browser, last longer.`,
      );
    },
    onAccepted() {},
  };
}

export interface ClientCredentials {
  client_id: string;
  client_secret: string;
  /** With spaces between them; absent: all that the credential has. */
  scopes?: string | undefined;
}

/** The credential of a program (OAuth 2.1, Client Credentials). It is shown to the authorization server of `address` only. */
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
      const known = provider.tokens()?.access_token;
      if (known !== undefined && known !== refused) return known;
      try {
        await auth(provider, { serverUrl: address, fetchFn });
      } catch (error) {
        if (isTransient(error)) throw error;
        throw new SignInError(
          `AMS_CLIENT_ID and AMS_CLIENT_SECRET are refused (${errorReason(error)}): the credential is unknown, was revoked, or is not one of ${issuer}.`,
          { cause: error },
        );
      }
      return provider.tokens()?.access_token ?? '';
    },
    onAccepted() {},
  };
}

/** What the bridge signs in with. */
export interface Credential {
  /** The access token at hand; undefined when there is none yet. */
  token(): Promise<string | undefined>;
  /**
   * Another one than the one that was refused, or the first.
   * @throws {SignInError} when there is none to be had; faults of the network as they are.
   */
  renew(refused: string | undefined): Promise<string>;
  /** Told that the service took a token. */
  onAccepted(): void;
}
