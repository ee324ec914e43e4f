import Koa, { type Context, type Middleware, type Next } from 'koa';
import type { Logger } from '../../platform/observability/logger.ts';
import { answerErrors } from './errors.ts';
import { requestId } from './requests/request-id.ts';
import { requireHost, requireValidHost } from './server.ts';

export interface AppParts {
  logger: Logger;
  /** Whether to trust X-Forwarded-* headers of a proxy for the client's address and protocol. */
  trust_proxy: boolean;
  /** Whether clients use https: browsers are then told to use nothing else. */
  is_https: boolean;
  /** Keys of signed cookies: the first one signs, all of them verify. */
  keys?: readonly string[];
  /** Called in this order. */
  handlers: readonly Middleware[];
}

/** The Koa application of all HTTP transports: request ids and error responses, then the handlers. */
export function createApp({ logger, trust_proxy, is_https, keys, handlers }: AppParts): Koa {
  // The last address comes from the proxy. The client can forge those before it.
  const app = new Koa({ proxy: trust_proxy, maxIpsCount: 1, ...(keys && { keys: [...keys] }) });
  app.on('error', (error: Error & { code?: string }) => {
    // The client disconnected or did not send HTTP: not an error of the service.
    const isClientError = /^(ERR_STREAM_PREMATURE_CLOSE|ECONNRESET|EPIPE|HPE_.*)$/.test(error.code ?? '');
    logger[isClientError ? 'debug' : 'error']({ err: error }, 'cannot send the response');
  });
  app.use(requestId);
  app.use(setDefaultHeaders);
  if (is_https) app.use(requireHttps);
  app.use(answerErrors(logger));
  app.use(checkHost);
  for (const handler of handlers) app.use(handler);
  return app;
}

/** Defaults that handlers may override: no content sniffing, no caching (RFC 9111, section 5.2.2.5). */
function setDefaultHeaders(ctx: Context, next: Next): Promise<void> {
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.set('Cache-Control', 'no-store');
  return next();
}

/** Strict transport security (RFC 6797), for a year and for this host only: others of the domain can be of other people. */
function requireHttps(ctx: Context, next: Next): Promise<void> {
  ctx.set('Strict-Transport-Security', 'max-age=31536000');
  return next();
}

function checkHost(ctx: Context, next: Next): Promise<void> {
  requireHost(ctx.req);
  // Koa takes X-Forwarded-Host of a trusted proxy instead.
  if (ctx.host !== '') requireValidHost(ctx.host);
  return next();
}
