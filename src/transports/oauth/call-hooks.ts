import { hash } from 'node:crypto';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { Provider } from 'oidc-provider/lib/provider.js';
import { addressKey } from '../http/address-key.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';
import type { RateLimits } from '../../operations/rate-limits.ts';
import type { ResourceIndicators } from './resource-indicators.ts';

/**
 * What must happen inside a call to the provider at a moment for which it offers nothing but its look at the storage. The call is
 * found through the provider; outside of one nothing happens.
 */
export interface CallHooks {
  /**
   * A client names itself: its calls are counted before its secret is looked at.
   * @throws {DomainError} RATE_LIMITED
   */
  onClientIdentified(clientId: string): Promise<void>;
  /** Whether a client may go on that authenticates in this way: who cannot prove who it is gets no introspection (RFC 7662). */
  mayContinue(method: string | undefined): boolean;
  /**
   * Whether a code or refresh token that is looked at is about to be used.
   * @throws InvalidTarget when it is for a resource that is unknown
   */
  isGrantUse(): boolean;
  /** The refresh token that was just used for another one. */
  rotatedRefreshToken(): string | undefined;
  /** Whether a client gives back one access token, and not the grant behind it (RFC 7009, section 2.1). */
  isSingleTokenRevocation(): boolean;
}

const authenticatedRoutes = new Set(['token', 'revocation', 'introspection']);

export function createCallHooks(limits: RateLimits, targets: ResourceIndicators): CallHooks {
  const calling = (): KoaContextWithOIDC | undefined => Provider.ctx;

  return {
    async onClientIdentified(clientId) {
      const ctx = calling();
      if (!ctx || !authenticatedRoutes.has(ctx.oidc.route) || ctx.oidc.client) return;
      const key = `${addressKey(ctx)} ${hash('sha256', clientId, 'base64url')}`;
      await limits.consume('token', key, createRateLimitReporter(ctx));
    },
    mayContinue(method) {
      const oidc = calling()?.oidc;
      return oidc?.route !== 'introspection' || oidc.client !== undefined || method !== 'none';
    },
    isGrantUse() {
      const ctx = calling();
      if (ctx?.oidc.route !== 'token') return false;
      targets.settle(ctx);
      return true;
    },
    rotatedRefreshToken: () => calling()?.oidc.entities.RotatedRefreshToken?.jti,
    isSingleTokenRevocation() {
      const { route, entities } = calling()?.oidc ?? {};
      return route === 'revocation' && entities?.AccessToken !== undefined;
    },
  };
}
