import { knownScopes } from '../../../../core/src/domain/auth/scopes.ts';
import type { Exchange } from './exchange.ts';
import { issueToken, revokeToken, tokenLifetimeMs } from './tokens.ts';
import type { State } from '../core/state.ts';

/** Answers the OAuth paths; false for any other path. Only client credentials are supported. */
export async function answerOauth(state: State, exchange: Exchange): Promise<boolean> {
  const { method, path } = exchange;
  if (method === 'POST' && path === '/token') await answerToken(state, exchange);
  else if (method === 'POST' && path === '/revoke') await answerRevocation(state, exchange);
  else if (path.startsWith('/.well-known/oauth-authorization-server')) exchange.json(200, metadata(state));
  else if (/^(?:\/v1)?\/\.well-known\/oauth-protected-resource/.test(path))
    exchange.json(200, resource(state));
  else return false;
  return true;
}

function metadata({ url }: State): object {
  return {
    issuer: url,
    token_endpoint: `${url}/token`,
    revocation_endpoint: `${url}/revoke`,
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
  };
}

function resource({ url }: State): object {
  return { resource: `${url}/v1`, authorization_servers: [url], bearer_methods_supported: ['header'] };
}

async function answerToken(state: State, exchange: Exchange): Promise<void> {
  const form = new URLSearchParams((await exchange.readBody()).toString());
  const refuse = (status: number, error: string, error_description: string) =>
    exchange.json(status, { error, error_description });
  if (form.get('grant_type') !== 'client_credentials')
    return refuse(400, 'unsupported_grant_type', 'The fake service supports client_credentials only.');
  const [id, secret] = readClient(exchange.headers.authorization) ?? [
    form.get('client_id'),
    form.get('client_secret'),
  ];
  const client = state.credentials.get(id ?? '');
  if (!client || client.client_secret !== secret)
    return refuse(401, 'invalid_client', 'client authentication failed');
  const known = knownScopes(form.get('scope') ?? '');
  const requested: readonly string[] = known.length > 0 ? known : client.scopes;
  if (requested.some((scope) => !client.scopes.includes(scope)))
    return refuse(400, 'invalid_scope', 'requested scope is not allowed');
  const access_token = issueToken(state, client.agent_id, requested);
  const expires_in = tokenLifetimeMs / 1_000;
  exchange.json(200, { access_token, token_type: 'Bearer', expires_in, scope: requested.join(' ') });
}

/** The client of an HTTP Basic header (RFC 6749, section 2.3.1). */
function readClient(header: string | undefined): [string, string] | undefined {
  const [, encoded] = /^Basic +(\S+)$/i.exec(header ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const [id = '', secret = ''] = Buffer.from(encoded, 'base64').toString().split(':');
  return [decodeURIComponent(id), decodeURIComponent(secret)];
}

async function answerRevocation(state: State, exchange: Exchange): Promise<void> {
  const form = new URLSearchParams((await exchange.readBody()).toString());
  revokeToken(state, form.get('token') ?? '');
  exchange.json(200, {});
}
