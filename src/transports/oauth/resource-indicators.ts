import type { Client, KoaContextWithOIDC, ResourceServer } from 'oidc-provider';
import { InvalidScope, InvalidTarget } from 'oidc-provider/lib/helpers/errors.js';
import { scopes as everyScope } from '../../domain/auth/scopes.ts';
import type { TokenAudience } from '../../services/auth/tokens.ts';
import { agentOf } from './clients/clients.ts';

/** Resource indicators (RFC 8707): the resource of a token. */
export type ResourceIndicators = ReturnType<typeof createResourceIndicators>;

/**
 * A trailing slash is ignored, and `audience` is an alias of `resource`. Without either, a token is for the first resource of the
 * authorization request, else for the REST API.
 */
export function createResourceIndicators(resources: Record<TokenAudience, string>) {
  const addresses = Object.values(resources);

  /** Names the addresses: a client at another host name of the service then learns the right one. */
  const unknownTarget = () => new InvalidTarget(`resource must be one of ${addresses.join(' ')}`);

  /** The canonical address of a resource, or undefined if it is unknown. */
  function canonical(indicator: string): string | undefined {
    const address = URL.parse(indicator)?.href.replace(/\/$/, '');
    return address !== undefined && addresses.includes(address) ? address : undefined;
  }

  /**
   * The resources of a grant: all of them, so that a refresh may name another one. The requested ones come first. Undefined if one is
   * unknown.
   */
  function grantedResources(requested: readonly string[]): string[] | undefined {
    const canonicalAddresses = requested.map(canonical);
    const first = canonicalAddresses.filter((address) => address !== undefined);
    if (first.length < canonicalAddresses.length) return undefined;
    return [...new Set([...first, ...addresses])];
  }

  /**
   * Resolves the resource of a code or refresh token request, before the code or token is consumed.
   * @throws InvalidTarget
   */
  function resolveResource({ oidc }: KoaContextWithOIDC): void {
    const requested = oidc.params?.['resource'] ?? readAudience(oidc.body?.['audience']);
    if (!oidc.params || requested === undefined) return;
    const address = typeof requested === 'string' ? canonical(requested) : undefined;
    if (address === undefined) throw unknownTarget();
    oidc.params['resource'] = address;
  }

  const feature = {
    enabled: true,

    /** @param granted resources of the code or refresh token, if the client names none. */
    defaultResource(
      ctx: KoaContextWithOIDC,
      _client: Client,
      granted?: readonly string[],
    ): string | string[] {
      return granted?.[0] ?? readAudience(ctx.oidc.body?.['audience']) ?? resources.api;
    },

    getResourceServerInfo(ctx: KoaContextWithOIDC, indicator: string, client: Client): ResourceServer {
      const audience = canonical(indicator);
      if (audience === undefined) throw unknownTarget();
      const scopes = agentOf(client)?.scopes ?? everyScope;
      if (ctx.oidc.params?.['grant_type'] === 'client_credentials')
        applyDefaultScope(ctx.oidc.params, scopes);
      else if (ctx.oidc.route === 'authorization') requireKnownScopes(ctx.oidc.requestParamScopes);
      return { audience, scope: scopes.join(' '), accessTokenFormat: 'opaque' };
    },
  };

  return { grantedResources, resolveResource, feature };
}

function readAudience(value: unknown): string | string[] | undefined {
  if (typeof value === 'string' && value !== '') return value;
  return Array.isArray(value) ? value.map(String) : undefined;
}

/** Client credentials without a scope get all scopes of the client. Others are rejected; the provider would drop them silently. */
function applyDefaultScope(params: Record<string, unknown>, allowed: readonly string[]): void {
  const { scope } = params;
  if (typeof scope !== 'string' || scope === '') {
    params['scope'] = allowed.join(' ');
    return;
  }
  const forbidden = scope.split(' ').find((name) => name !== '' && !allowed.includes(name));
  if (forbidden !== undefined) throw new InvalidScope('scope not allowed for this client', forbidden);
}

/** As for client credentials: an unknown scope is an error (RFC 6749, section 4.1.2.1). @throws InvalidScope */
function requireKnownScopes(requested: ReadonlySet<string>): void {
  const known: readonly string[] = everyScope;
  const unknown = [...requested].find((name) => !known.includes(name));
  if (unknown !== undefined) throw new InvalidScope('unknown scope', unknown);
}
