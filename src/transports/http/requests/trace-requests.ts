import type { Context, Middleware } from 'koa';
import { methodOf, routeOf } from './request-metrics.ts';

interface RequestTracing {
  span<T>(
    name: string,
    options: { kind: 'server'; parent: string | undefined },
    run: (annotate: (attributes: Record<string, string | number>, name?: string) => void) => Promise<T>,
  ): Promise<T>;
}

const wellFormed = /^00-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;
/** Polled every few seconds by machines. */
const untracedPaths = new Set(['/livez', '/readyz', '/metrics']);

/** Records each request as a span. It continues the trace of a traceparent header (W3C Trace Context, section 3.2). */
export function traceRequests(tracing: RequestTracing): Middleware {
  return function traced(ctx: Context, next) {
    if (untracedPaths.has(ctx.path)) return next();
    const header = ctx.get('traceparent');
    const parent = wellFormed.test(header) ? header : undefined;
    const method = methodOf(ctx);
    return tracing.span(method, { kind: 'server', parent }, async (annotate) => {
      try {
        await next();
      } finally {
        const route = routeOf(ctx);
        const attributes = {
          'http.request.method': method,
          'http.route': route,
          'http.response.status_code': ctx.status,
        };
        annotate({ ...attributes, 'ams.request_id': String(ctx.state['request_id']) }, `${method} ${route}`);
      }
    });
  };
}
