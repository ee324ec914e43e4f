import type { Client, KoaContextWithOIDC, ResourceServer } from 'oidc-provider';
import { InvalidScope, InvalidTarget } from 'oidc-provider/lib/helpers/errors.js';
import type { Door } from '../services/tokens.ts';
import { agentOf } from './clients.ts';

/**
 * Resource indicators (RFC 8707): which of our resources a token is for. With and without a trailing slash is the same;
 * `audience` is another word for `resource`; without either the token is for the REST interface.
 */
export function resourceIndicators(resources: Record<Door, string>) {
  const known = Object.values(resources);

  return {
    enabled: true,

    defaultResource(ctx: KoaContextWithOIDC): string | string[] {
      return audiences(ctx.oidc.body?.['audience']) ?? resources.api;
    },

    getResourceServerInfo(ctx: KoaContextWithOIDC, indicator: string, client: Client): ResourceServer {
      const address = new URL(indicator).href.replace(/\/$/, '');
      if (!known.includes(address)) throw new InvalidTarget();
      const { scopes } = agentOf(client);
      if (ctx.oidc.params?.['grant_type'] === 'client_credentials') settleScope(ctx.oidc.params, scopes);
      return {
        audience: address,
        scope: scopes.join(' '),
        accessTokenFormat: 'opaque',
      };
    },
  };
}

function audiences(given: unknown): string | string[] | undefined {
  if (typeof given === 'string' && given !== '') return given;
  return Array.isArray(given) ? given.map(String) : undefined;
}

/** Client credentials: no scope asked for means all that the client has; the provider itself would drop what it has not. */
function settleScope(params: Record<string, unknown>, allowed: readonly string[]): void {
  const { scope } = params;
  if (typeof scope !== 'string' || scope === '') {
    params['scope'] = allowed.join(' ');
    return;
  }
  const refused = scope.split(' ').find((word) => word !== '' && !allowed.includes(word));
  if (refused !== undefined) throw new InvalidScope('this client may not have the scope', refused);
}
