import { randomUUID } from 'node:crypto';
import type { Context, Next } from 'koa';

const wellFormed = /^[\w.-]{8,128}$/;

/** The client's X-Request-Id if it is well-formed, else a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && wellFormed.test(header) ? header : randomUUID();
}

/** Sets the id of a request in `ctx.state.request_id` and `X-Request-Id`. */
export async function requestId(ctx: Context, next: Next): Promise<void> {
  const id = requestIdOf(ctx.headers['x-request-id']);
  ctx.state['request_id'] = id;
  ctx.set('X-Request-Id', id);
  await next();
}
