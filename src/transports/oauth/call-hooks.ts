import { hash } from 'node:crypto';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { Provider } from 'oidc-provider/lib/provider.js';
import { agentOf } from './clients/clients.ts';
import { addressKey } from '../http/address-key.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';
import type { RateLimits } from '../../operations/rate-limits.ts';
import { dropUnknownScopes, narrowRefreshScope, type ResourceIndicators } from './resource-indicators.ts';

/**
 * Hooks into provider requests at points where the provider only reads the storage. They find the request through the provider's
 * context and do nothing outside of a request.
 */
export interface CallHooks {
  /**
   * Counts a request by client id before the secret is checked, and drops the unknown scopes of the request.
   * @throws {DomainError} RATE_LIMITED
   */
  onClientIdentified(clientId: string): Promise<void>;
  /** Whether a client with this authentication method may continue. Introspection needs authentication (RFC 7662). */
  mayContinue(method: string | undefined): boolean;
  /**
   * Whether the request uses a code or refresh token.
   * @throws InvalidTarget for an unknown resource
   */
  isGrantUse(): boolean;
  /**
   * Checks the resource of a request that uses this code or refresh token, and narrows its scope.
   * @throws InvalidTarget if the grant does not cover the resource
   */
  onGrantUse(record: { resource?: unknown; scope?: unknown }): void;
  /** The refresh token that this request has rotated. */
  rotatedRefreshToken(): string | undefined;
  /** SHA-256 of the current secret of the credential, as it was when the request was authenticated; null for other clients. */
  credentialSecret(): Buffer | null;
  /** Whether the request revokes one access token, not its grant (RFC 7009, section 2.1). */
  isSingleTokenRevocation(): boolean;
}

const authenticatedRoutes = new Set(['token', 'revocation', 'introspection']);

/** Creates the hooks of one provider. */
export function createCallHooks(limits: RateLimits, targets: ResourceIndicators): CallHooks {
  const currentContext = (): KoaContextWithOIDC | undefined => Provider.ctx;

  return {
    async onClientIdentified(clientId) {
      const ctx = currentContext();
      if (!ctx || !authenticatedRoutes.has(ctx.oidc.route) || ctx.oidc.client) return;
      dropUnknownScopes(ctx.oidc.params);
      const key = `${addressKey(ctx)} ${hash('sha256', clientId, 'base64url')}`;
      await limits.consume('token', key, createRateLimitReporter(ctx));
    },
    mayContinue(method) {
      const oidc = currentContext()?.oidc;
      return oidc?.route !== 'introspection' || oidc.client !== undefined || method !== 'none';
    },
    isGrantUse() {
      const ctx = currentContext();
      if (ctx?.oidc.route !== 'token') return false;
      targets.resolveResource(ctx);
      return true;
    },
    onGrantUse({ resource, scope }) {
      const ctx = currentContext();
      if (!ctx?.oidc.params) return;
      targets.requireGranted(ctx, resource);
      narrowRefreshScope(ctx.oidc.params, scope);
    },
    rotatedRefreshToken: () => currentContext()?.oidc.entities.RotatedRefreshToken?.jti,
    credentialSecret() {
      const client = currentContext()?.oidc.client;
      return client && agentOf(client) ? Buffer.from(client.clientSecret ?? '', 'base64url') : null;
    },
    isSingleTokenRevocation() {
      const { route, entities } = currentContext()?.oidc ?? {};
      return route === 'revocation' && entities?.AccessToken !== undefined;
    },
  };
}
