import type { Context, Middleware } from 'koa';

/** Called for each request. `status` is a class such as `2xx`. */
export type RecordRequest = (
  labels: { method: string; route: string; status: string },
  seconds: number,
) => void;

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The first path segments of endpoints without a router. */
const knownSegments = new Set([
  '.well-known',
  'a2a',
  'assets',
  'authorize',
  'blobs',
  'console',
  'docs',
  'introspect',
  'livez',
  'mcp',
  'metrics',
  'ops',
  'readyz',
  'register',
  'revoke',
  'sign-in',
  'sign-out',
  'sign-up',
  'token',
  'v1',
]);

/** Measures the duration of requests. */
export function measureRequests(record: RecordRequest): Middleware {
  return async function measured(ctx, next) {
    const startedAt = performance.now();
    try {
      await next();
    } finally {
      const method = methodOf(ctx);
      const status = `${Math.floor(ctx.status / 100)}xx`;
      record({ method, route: routeOf(ctx), status }, (performance.now() - startedAt) / 1_000);
    }
  };
}

/** The method, or `other` for one that no endpoint has. */
export function methodOf({ method }: Context): string {
  return methods.has(method) ? method : 'other';
}

/** The route template, never the path: each distinct value becomes a time series, and clients choose paths. */
export function routeOf(ctx: Context): string {
  const matched: unknown = ctx['_matchedRoute'];
  if (typeof matched === 'string') return matched;
  const [, first = '', ...rest] = ctx.path.split('/');
  if (first === '' && rest.length === 0) return '/';
  if (!knownSegments.has(first)) return 'none';
  return rest.length === 0 ? `/${first}` : `/${first}/*`;
}
