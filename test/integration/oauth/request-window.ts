import type { Middleware } from 'koa';
import type { AuthorizationRequests } from '../../../src/transports/http/authorization-requests.ts';

/** Lets tests look at what the consent page is made of: the request as JSON, for who prefers that. */
export function exposeAuthorizationRequest(requests: AuthorizationRequests): Middleware {
  return async function look(ctx, next) {
    const asked = ctx.path.startsWith('/authorize/requests/') && ctx.get('Accept') === 'application/json';
    if (!asked) return next();
    ctx.body = (await requests.find(ctx)) ?? null;
    return undefined;
  };
}
