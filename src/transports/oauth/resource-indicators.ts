import type { Client, KoaContextWithOIDC, ResourceServer } from 'oidc-provider';
import { InvalidScope, InvalidTarget } from 'oidc-provider/lib/helpers/errors.js';
import { scopes as everyScope } from '../../domain/auth/scopes.ts';
import type { TokenAudience } from '../../services/auth/tokens.ts';
import { agentOf } from './clients/clients.ts';

/** Resource indicators (RFC 8707): which of our resources a token is for. */
export type ResourceIndicators = ReturnType<typeof createResourceIndicators>;

/**
 * With and without a trailing slash is the same resource; `audience` is another word for `resource`; without either the token is
 * for what was asked for at /authorize, else for the REST interface.
 */
export function createResourceIndicators(resources: Record<TokenAudience, string>) {
  const known = Object.values(resources);

  /** The address of the resource as we write it, or undefined when it is none of ours. */
  function canonical(indicator: string): string | undefined {
    const address = URL.parse(indicator)?.href.replace(/\/$/, '');
    return address !== undefined && known.includes(address) ? address : undefined;
  }

  /**
   * What a grant is for: everything, so that a refresh may name another resource than the first. What was asked for stands first.
   * Undefined when something of it is unknown.
   */
  function granted(asked: readonly string[]): string[] | undefined {
    const addresses = asked.map(canonical);
    const first = addresses.filter((address) => address !== undefined);
    if (first.length < addresses.length) return undefined;
    return [...new Set([...first, ...known])];
  }

  /**
   * Settles which resource a code or refresh token is used for, before anything of it is used up.
   * @throws InvalidTarget
   */
  function settle({ oidc }: KoaContextWithOIDC): void {
    const asked = oidc.params?.['resource'] ?? readAudience(oidc.body?.['audience']);
    if (!oidc.params || asked === undefined) return;
    const address = typeof asked === 'string' ? canonical(asked) : undefined;
    if (address === undefined) throw new InvalidTarget();
    oidc.params['resource'] = address;
  }

  const feature = {
    enabled: true,

    /** @param granted_to what a code or refresh token is good for, when the client names none of it. */
    defaultResource(
      ctx: KoaContextWithOIDC,
      _client: Client,
      granted_to?: readonly string[],
    ): string | string[] {
      return granted_to?.[0] ?? readAudience(ctx.oidc.body?.['audience']) ?? resources.api;
    },

    getResourceServerInfo(ctx: KoaContextWithOIDC, indicator: string, client: Client): ResourceServer {
      const audience = canonical(indicator);
      if (audience === undefined) throw new InvalidTarget();
      const scopes = agentOf(client)?.scopes ?? everyScope;
      if (ctx.oidc.params?.['grant_type'] === 'client_credentials')
        applyDefaultScope(ctx.oidc.params, scopes);
      else if (ctx.oidc.route === 'authorization') requireKnownScope(ctx.oidc.requestParamScopes);
      return { audience, scope: scopes.join(' '), accessTokenFormat: 'opaque' };
    },
  };

  return { granted, settle, feature };
}

function readAudience(given: unknown): string | string[] | undefined {
  if (typeof given === 'string' && given !== '') return given;
  return Array.isArray(given) ? given.map(String) : undefined;
}

/** Client credentials: no scope asked for means all that the client has; the provider itself would drop what it has not. */
function applyDefaultScope(params: Record<string, unknown>, allowed: readonly string[]): void {
  const { scope } = params;
  if (typeof scope !== 'string' || scope === '') {
    params['scope'] = allowed.join(' ');
    return;
  }
  const refused = scope.split(' ').find((word) => word !== '' && !allowed.includes(word));
  if (refused !== undefined) throw new InvalidScope('this client may not have the scope', refused);
}

/** What people grant: unknown scopes beside known ones are left out, but there must be something left to grant. */
function requireKnownScope(asked: ReadonlySet<string>): void {
  if (!everyScope.some((scope) => asked.has(scope))) {
    throw new InvalidScope('none of these scopes is known here', [...asked].join(' '));
  }
}
