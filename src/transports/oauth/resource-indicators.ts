import type { Client, KoaContextWithOIDC, ResourceServer } from 'oidc-provider';
import { InvalidScope, InvalidTarget } from 'oidc-provider/lib/helpers/errors.js';
import { knownScopes, scopes as everyScope } from '../../../packages/core/src/domain/auth/scopes.ts';
import type { TokenResource } from '../../services/auth/tokens.ts';
import { agentOf } from './clients/clients.ts';

/** Resource indicators (RFC 8707): the resource of a token. */
export type ResourceIndicators = ReturnType<typeof createResourceIndicators>;

/**
 * A trailing slash is ignored, and `audience` is an alias of `resource`. Without either, a token is for the first resource of the
 * authorization request, else for the whole service.
 */
export function createResourceIndicators(resources: Record<TokenResource, string>) {
  const { service, mcp, api, ws } = resources;
  const interfaces = [mcp, api, ws];
  const addresses = [...interfaces, service];

  /** Names the addresses: a client at another host name of the service then learns the right one. */
  const unknownTarget = (allowed: readonly string[] = addresses) =>
    new InvalidTarget(`resource must be one of ${allowed.join(' ')}`);

  /** The canonical address of a resource, or undefined if it is unknown. */
  function canonical(indicator: string): string | undefined {
    const address = URL.parse(indicator)?.href.replace(/\/$/, '');
    return address !== undefined && addresses.includes(address) ? address : undefined;
  }

  /**
   * The resources of a grant, the default one first: what the app requested, else the whole service, and every interface, so that a
   * refresh may name another one. Undefined if one is unknown.
   */
  function grantedResources(requested: readonly string[]): string[] | undefined {
    const canonicalAddresses = requested.map(canonical);
    const known = canonicalAddresses.filter((address) => address !== undefined);
    if (known.length < canonicalAddresses.length) return undefined;
    return [...new Set([...(known.length === 0 ? [service] : known), ...interfaces])];
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

  /**
   * Checks that a code or refresh token is for the requested resource, before it is consumed.
   * @throws InvalidTarget for the whole service, if the person approved a request for one interface
   */
  function requireGranted({ oidc }: KoaContextWithOIDC, granted: unknown): void {
    const requested = oidc.params?.['resource'];
    if (requested !== undefined && Array.isArray(granted) && !granted.includes(requested))
      throw unknownTarget(granted.map(String));
  }

  const feature = {
    enabled: true,

    /** @param granted resources of the code or refresh token, if the client names none. */
    defaultResource(
      ctx: KoaContextWithOIDC,
      _client: Client,
      granted?: readonly string[],
    ): string | string[] {
      return granted?.[0] ?? readAudience(ctx.oidc.body?.['audience']) ?? service;
    },

    getResourceServerInfo(ctx: KoaContextWithOIDC, indicator: string, client: Client): ResourceServer {
      const audience = canonical(indicator);
      if (audience === undefined) throw unknownTarget();
      const scopes = agentOf(client)?.scopes ?? everyScope;
      if (ctx.oidc.params?.['grant_type'] === 'client_credentials') narrowScope(ctx.oidc.params, scopes);
      return { audience, scope: scopes.join(' '), accessTokenFormat: 'opaque' };
    },
  };

  return { grantedResources, resolveResource, requireGranted, feature };
}

function readAudience(value: unknown): string | string[] | undefined {
  if (typeof value === 'string' && value !== '') return value;
  return Array.isArray(value) ? value.map(String) : undefined;
}

/**
 * Narrows the scope of client credentials to what the client has. Without a known scope, it is all of that.
 * @throws InvalidScope if the client has none of the known scopes
 */
function narrowScope(params: Record<string, unknown>, allowed: readonly string[]): void {
  const requested = namesIn(params['scope']);
  const granted = requested.length === 0 ? allowed : requested.filter((name) => allowed.includes(name));
  if (granted.length === 0)
    throw new InvalidScope(`this client has only the scopes ${allowed.join(' ')}`, requested.join(' '));
  params['scope'] = granted.join(' ');
}

/**
 * Narrows the scope of a refresh to that of the grant. Without a scope of the grant, it is all of that: the answer says what the token
 * has.
 */
export function narrowRefreshScope(params: Record<string, unknown>, granted: unknown): void {
  const allowed = namesIn(granted);
  const kept = namesIn(params['scope']).filter((name) => allowed.includes(name));
  params['scope'] = kept.join(' ') || undefined;
}

/** Removes the unknown names in the scope of a token request (RFC 6749, section 3.3). Two values are refused later. */
export function dropUnknownScopes(params: Record<string, unknown> | undefined): void {
  if (typeof params?.['scope'] === 'string')
    params['scope'] = knownScopes(params['scope']).join(' ') || undefined;
}

function namesIn(scope: unknown): string[] {
  return typeof scope === 'string' ? scope.split(' ').filter((name) => name !== '') : [];
}
