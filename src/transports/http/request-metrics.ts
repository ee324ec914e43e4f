import type { Context, Middleware } from 'koa';

/** Told of each request: `status` is its class, such as `2xx`, and the time is in seconds. */
export type RecordRequest = (
  labels: { method: string; route: string; status: string },
  seconds: number,
) => void;

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The first segments of what is served here outside of routers. */
const knownSegments = new Set([
  '.well-known',
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

/** Measures how long requests take. */
export function measureRequests(meter: RecordRequest): Middleware {
  return async function measured(ctx, next) {
    const begun = performance.now();
    try {
      await next();
    } finally {
      const method = methodOf(ctx);
      const status = `${Math.floor(ctx.status / 100)}xx`;
      meter({ method, route: routeOf(ctx), status }, (performance.now() - begun) / 1_000);
    }
  };
}

/** The method, of those that somebody serves. */
export function methodOf({ method }: Context): string {
  return methods.has(method) ? method : 'other';
}

/** The template of the route, never the path itself: callers choose paths, and each would be a series for ever. */
export function routeOf(ctx: Context): string {
  const matched: unknown = ctx['_matchedRoute'];
  if (typeof matched === 'string') return matched;
  const [, first = '', ...rest] = ctx.path.split('/');
  if (first === '' && rest.length === 0) return '/';
  if (!knownSegments.has(first)) return 'none';
  return rest.length === 0 ? `/${first}` : `/${first}/*`;
}
