import type { Middleware } from 'koa';

/** Descriptions of the interface by their path, for everybody: what the interface is is no secret. Made once, at the start. */
export function descriptionFace(documents: Record<string, object>): Middleware {
  const texts = new Map(
    Object.entries(documents).map(([path, document]) => [path, JSON.stringify(document)]),
  );
  return function description(ctx, next) {
    const text = texts.get(ctx.path);
    if (text === undefined || !['GET', 'HEAD'].includes(ctx.method)) return next();
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.type = 'application/json';
    ctx.body = text;
    return Promise.resolve();
  };
}
