import type { Context } from 'koa';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';

/** Allows all origins, because these endpoints do not use cookies. */
export function allowAllOrigins(ctx: Context): void {
  ctx.set('Access-Control-Allow-Origin', '*');
}

/** Answers a CORS preflight request. @returns true, so that the request counts as handled. */
export function answerPreflight(ctx: Context, method: string): true {
  ctx.set('Access-Control-Allow-Methods', method);
  ctx.set('Access-Control-Allow-Headers', ctx.get('Access-Control-Request-Headers') || '*');
  ctx.set('Access-Control-Max-Age', '3600');
  ctx.status = 204;
  return true;
}

/** Serves a document to all origins, including preflight requests. */
export function answerPublicDocument(ctx: Context, document: () => object): void {
  allowAllOrigins(ctx);
  if (ctx.method === 'OPTIONS') {
    answerPreflight(ctx, 'GET');
  } else if (ctx.method === 'GET' || ctx.method === 'HEAD') {
    ctx.body = document();
    ctx.set('Cache-Control', 'public, max-age=300');
  } else {
    ctx.set('Allow', 'GET, HEAD, OPTIONS');
    throw new DomainError('METHOD_NOT_ALLOWED', `${ctx.path} allows GET.`);
  }
}
