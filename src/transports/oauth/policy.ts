import type { Client, Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { InvalidClient, InvalidClientMetadata, InvalidRequest } from 'oidc-provider/lib/helpers/errors.js';
import { operatorClientId, refreshTokenLifeSeconds, tokenLifeSeconds } from '../../services/auth/tokens.ts';
import { agentOf } from './clients/clients.ts';

/** Path of the consent pages. */
export const requestsPath = '/authorize/requests';

/** Lifetimes in seconds. An interaction lasts an hour, enough to sign up and create an agent. */
export const lifetimes = {
  AccessToken: tokenLifeSeconds,
  AuthorizationCode: 60,
  ClientCredentials: tokenLifeSeconds,
  Grant: refreshTokenLifeSeconds,
  Interaction: 3_600,
  RefreshToken: refreshTokenLifeSeconds,
  Session: 3_600,
};

/**
 * Sends every authorization request to the consent page, so that the person chooses an agent each time. The provider keeps no
 * sessions.
 */
export const interactions: NonNullable<Configuration['interactions']> = {
  url: (_ctx, { uid }) => `${requestsPath}/${uid}`,
};

/**
 * Rejects a `state` with control characters, which the database cannot store. The standard allows only visible characters (RFC
 * 6749, appendix A.5).
 * @throws InvalidRequest
 */
export async function requirePlainState(_ctx: unknown, state: string | undefined): Promise<void> {
  if (/\p{Cc}/u.test(state ?? '')) throw new InvalidRequest('state must not contain control characters');
}

/**
 * Allows introspection (RFC 7662, section 2.1) for the client of the token and other confidential clients of the same agent.
 */
export async function mayIntrospect(
  ctx: KoaContextWithOIDC,
  client: Client,
  token: object,
): Promise<boolean> {
  if (isTokenOf(client, token)) return true;
  return isForAgentOf(client, token) && (!('accountId' in token) || (await isKnownClient(ctx, token)));
}

/**
 * Whether the client of a token still exists; the provider would fail otherwise. A client with invalid metadata does not. Temporary
 * errors are thrown, because they say nothing about the token.
 */
async function isKnownClient({ oidc }: KoaContextWithOIDC, token: object): Promise<boolean> {
  const id = 'clientId' in token ? String(token.clientId) : '';
  try {
    return (await oidc.provider.Client.find(id)) !== undefined;
  } catch (error) {
    if (error instanceof InvalidClient || error instanceof InvalidClientMetadata) return false;
    throw error;
  }
}

/** Allows revocation by the client of the token. Tokens issued by an operator can be revoked by any client of the agent. */
export function mayRevoke(_ctx: KoaContextWithOIDC, client: Client, token: object): boolean {
  const isFromOperator = 'clientId' in token && token.clientId === operatorClientId;
  return isTokenOf(client, token) || (isFromOperator && isForAgentOf(client, token));
}

function isTokenOf(client: Client, token: object): boolean {
  return 'clientId' in token && token.clientId === client.clientId;
}

/** Whether a token acts as the same agent as a confidential client. */
function isForAgentOf(client: Client, token: object): boolean {
  const extra = 'extra' in token ? token.extra : undefined;
  const agent = agentOf(client);
  return (
    agent !== undefined &&
    typeof extra === 'object' &&
    extra !== null &&
    'sub' in extra &&
    extra.sub === agent.agent_id
  );
}
