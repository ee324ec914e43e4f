import type { Middleware } from 'koa';
import { refuseUnknownParameters } from './read-input.ts';

/** Serves API descriptions by path, without authentication. Each is generated once, at the first request for it. */
export function serveDescriptions(documents: Readonly<Record<string, () => Promise<object>>>): Middleware {
  const generators = new Map(Object.entries(documents));
  const texts = new Map<string, Promise<string>>();
  return async function description(ctx, next) {
    const generate = generators.get(ctx.path);
    if (generate === undefined || !['GET', 'HEAD'].includes(ctx.method)) {
      await next();
      return;
    }
    if (ctx.path.startsWith('/v1')) refuseUnknownParameters(ctx);
    const text = texts.get(ctx.path) ?? stringify(generate);
    texts.set(ctx.path, text);
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.type = 'application/json';
    ctx.body = await text;
  };
}

async function stringify(generate: () => Promise<object>): Promise<string> {
  return JSON.stringify(await generate());
}
