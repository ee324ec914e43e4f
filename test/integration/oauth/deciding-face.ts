import type { Middleware } from 'koa';
import { DomainError } from '../../../src/domain/errors.ts';
import type { AuthorizationRequests } from '../../../src/http/authorization-requests.ts';
import { formBody, formOf } from '../../../src/http/form-body.ts';

/** Stands for the consent page: shows a request as JSON, and takes a form that says who decides what. */
export function decidingFace(requests: AuthorizationRequests): Middleware {
  const read = formBody(1_024);
  return async function deciding(ctx, next) {
    if (!ctx.path.startsWith('/authorize/requests/')) return next();
    const request = await requests.find(ctx);
    if (!request) throw new DomainError('NOT_FOUND', 'This request is over.');
    if (ctx.method === 'GET') {
      ctx.body = request;
      return undefined;
    }
    return read(ctx, async () => {
      const form = formOf(ctx);
      if (form.get('decision') !== 'approve') return requests.deny(ctx);
      const by = { account_id: form.get('account_id') ?? '', username: '', session_id: '' };
      return requests.approve(ctx, request, by, { id: form.get('agent_id') ?? '' });
    });
  };
}
