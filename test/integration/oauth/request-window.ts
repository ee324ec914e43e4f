import type { Middleware } from 'koa';
import type { AuthorizationRequests } from '../../../src/transports/http/authorization-requests.ts';

/** Serves the authorization request of the consent page as JSON, for tests. */
export function exposeAuthorizationRequest(requests: AuthorizationRequests): Middleware {
  return async function showRequest(ctx, next) {
    const isShown = ctx.path.startsWith('/authorize/requests/') && ctx.get('Accept') === 'application/json';
    if (!isShown) return next();
    ctx.body = (await requests.find(ctx)) ?? null;
    return undefined;
  };
}
