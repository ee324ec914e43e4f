import type { Middleware } from 'koa';
import { refuseUnknownParameters } from './read-input.ts';

/**
 * Serves API descriptions by path, without authentication. Each is generated at the first request for it: that takes longer than
 * the rest of the startup.
 */
export function serveDescriptions(documents: Readonly<Record<string, () => object>>): Middleware {
  const generators = new Map(Object.entries(documents));
  const texts = new Map<string, string>();
  return function description(ctx, next) {
    const generate = generators.get(ctx.path);
    if (generate === undefined || !['GET', 'HEAD'].includes(ctx.method)) return next();
    refuseUnknownParameters(ctx);
    const text = texts.get(ctx.path) ?? JSON.stringify(generate());
    texts.set(ctx.path, text);
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.type = 'application/json';
    ctx.body = text;
    return Promise.resolve();
  };
}
