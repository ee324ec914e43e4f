import type { Middleware } from 'koa';
import { addressKey } from '../http/address-key.ts';
import { budgetTeller } from '../http/budget-headers.ts';
import type { Limits } from '../operations/limits.ts';

/** Guards a route that needs no token: a budget for each address. @throws {DomainError} RATE_LIMITED */
export function limitByAddress(limits: Limits): Middleware {
  return async function limited(ctx, next) {
    await limits.spend('public', addressKey(ctx), budgetTeller(ctx));
    await next();
  };
}
