import type { Middleware } from 'koa';
import { type OpenApiParts, openApiDocument } from './openapi/document.ts';

/** `GET /v1/openapi.json`, for everybody: what the interface is is no secret. Made once, at the start. */
export function descriptionFace(parts: OpenApiParts): Middleware {
  const text = JSON.stringify(openApiDocument(parts));
  return function description(ctx, next) {
    if (ctx.path !== '/v1/openapi.json' || !['GET', 'HEAD'].includes(ctx.method)) return next();
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.type = 'application/json';
    ctx.body = text;
    return Promise.resolve();
  };
}
