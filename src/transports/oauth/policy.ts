import type { Client, Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { InvalidClient, InvalidClientMetadata, InvalidRequest } from 'oidc-provider/lib/helpers/errors.js';
import { operatorClientId, refreshTokenLifeSeconds, tokenLifeSeconds } from '../../services/auth/tokens.ts';
import { agentOf } from './clients/clients.ts';

/** Where a person decides about a request. */
export const requestsPath = '/authorize/requests';

/** Seconds. In an hour a person can also open an account and make an agent. */
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
 * The person is asked each time, and chooses the agent anew: the provider, which has no sessions, finds nobody signed in and sends
 * every request to our page.
 */
export const interactions: NonNullable<Configuration['interactions']> = {
  url: (_ctx, { uid }) => `${requestsPath}/${uid}`,
};

/**
 * A client gets its `state` back as it sent it, so it is kept with the request: what the database does not take is refused. The
 * standard has visible characters only (RFC 6749, appendix A.5).
 * @throws InvalidRequest
 */
export async function requirePlainState(_ctx: unknown, state: string | undefined): Promise<void> {
  if (/\p{Cc}/u.test(state ?? '')) throw new InvalidRequest('state must hold no control characters');
}

/**
 * Introspection is for who can authenticate (RFC 7662, section 2.1): the client whose token it is, and other clients of the same
 * agent.
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
 * The provider looks the client of a person's token up, and takes for granted that it finds it. One that describes itself wrongly
 * by now is none; that we cannot tell just now says nothing of the token, and is thrown.
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

/** A token is given back by the client whose it is; one that an operator made, by a client of its agent. */
export function mayRevoke(_ctx: KoaContextWithOIDC, client: Client, token: object): boolean {
  const operators = 'clientId' in token && token.clientId === operatorClientId;
  return isTokenOf(client, token) || (operators && isForAgentOf(client, token));
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
