import { randomUUID } from 'node:crypto';
import type { Context, Next } from 'koa';

const wellFormed = /^[\w.-]{8,128}$/;

/** The caller's own request id when it is harmless, else a new one. */
export function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === 'string' && wellFormed.test(given) ? given : randomUUID();
}

/** Gives every request an id, in `ctx.state.request_id` and `X-Request-Id`. */
export async function requestId(ctx: Context, next: Next): Promise<void> {
  const id = requestIdOf(ctx.headers['x-request-id']);
  ctx.state['request_id'] = id;
  ctx.set('X-Request-Id', id);
  await next();
}
