import type { Context } from 'koa';

/**
 * Answers 304 if the client has the current body already, else 200 with the body (RFC 9110, section 13.1.2). Koa's own check ignores
 * If-None-Match for requests with no-cache.
 */
export function answerIfChanged(ctx: Context, etag: string, body: string | object): void {
  ctx.set('ETag', etag);
  ctx.status = 200;
  if (matches(ctx.get('If-None-Match'), etag)) ctx.status = 304;
  else ctx.body = body;
}

function matches(header: string, etag: string): boolean {
  const tags = new Set(header.split(',').map(toOpaqueTag));
  return tags.has(toOpaqueTag(etag)) || tags.has('*');
}

function toOpaqueTag(tag: string): string {
  return tag.trim().replace(/^W\//, '');
}
