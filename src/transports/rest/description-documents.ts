import type { Middleware } from 'koa';

/**
 * Descriptions of the interface by their path, for everybody: what the interface is is no secret. Each is made when somebody asks
 * for it first: it takes longer than all else that an API does before it answers.
 */
export function serveDescriptions(documents: Readonly<Record<string, () => object>>): Middleware {
  const makers = new Map(Object.entries(documents));
  const texts = new Map<string, string>();
  return function description(ctx, next) {
    const make = makers.get(ctx.path);
    if (make === undefined || !['GET', 'HEAD'].includes(ctx.method)) return next();
    const text = texts.get(ctx.path) ?? JSON.stringify(make());
    texts.set(ctx.path, text);
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.type = 'application/json';
    ctx.body = text;
    return Promise.resolve();
  };
}
