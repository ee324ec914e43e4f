import type { Middleware } from 'koa';
import { addressKey } from '../http/address-key.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';
import type { RateLimits } from '../../operations/rate-limits.ts';

/** Guards a route that needs no token: a budget for each address. @throws {DomainError} RATE_LIMITED */
export function limitByAddress(limits: RateLimits): Middleware {
  return async function limited(ctx, next) {
    await limits.consume('public', addressKey(ctx), createRateLimitReporter(ctx));
    await next();
  };
}
