import type { Context } from 'koa';
import { DomainError } from '../../domain/errors.ts';

/** Scripts of every origin may read the answer: nothing here goes by cookies. */
export function allowAllOrigins(ctx: Context): void {
  ctx.set('Access-Control-Allow-Origin', '*');
}

/** Answers the question whether a script may call with a method. @returns true: it is answered. */
export function answerPreflight(ctx: Context, method: string): true {
  ctx.set('Access-Control-Allow-Methods', method);
  ctx.set('Access-Control-Allow-Headers', ctx.get('Access-Control-Request-Headers') || '*');
  ctx.set('Access-Control-Max-Age', '3600');
  ctx.status = 204;
  return true;
}

/** Answers a document that scripts of every origin may read, and the question whether they may. */
export function answerPublicDocument(ctx: Context, document: () => object): void {
  allowAllOrigins(ctx);
  if (ctx.method === 'OPTIONS') {
    answerPreflight(ctx, 'GET');
  } else if (ctx.method === 'GET' || ctx.method === 'HEAD') {
    ctx.body = document();
    ctx.set('Cache-Control', 'public, max-age=300');
  } else {
    ctx.set('Allow', 'GET, HEAD, OPTIONS');
    throw new DomainError('METHOD_NOT_ALLOWED', `${ctx.path} takes GET.`);
  }
}
