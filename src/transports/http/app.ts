import Koa, { type Context, type Middleware, type Next } from 'koa';
import { DomainError } from '../../domain/errors.ts';
import type { Logger } from '../../platform/observability/logger.ts';
import { answerErrors } from './errors.ts';
import { requestId } from './request-id.ts';

export interface AppParts {
  logger: Logger;
  /** Whether a proxy in front tells the caller's address and protocol (X-Forwarded-*). */
  trust_proxy: boolean;
  /** Sign the cookies that ask for it; the first one signs, all are good. */
  keys?: readonly string[];
  /** Faces, in the order in which they are asked. */
  handlers: readonly Middleware[];
}

/** The Koa application that all faces share: request ids, errors in one form, then the faces. */
export function createApp({ logger, trust_proxy, keys, handlers }: AppParts): Koa {
  // The last address is the one that the proxy saw; those before it are what the caller claims.
  const app = new Koa({ proxy: trust_proxy, maxIpsCount: 1, ...(keys && { keys: [...keys] }) });
  app.on('error', (error: Error & { code?: string }) => {
    // A caller that went away while it was answered, or whose bytes are no HTTP; nothing of ours is at fault.
    const gone = /^(ERR_STREAM_PREMATURE_CLOSE|ECONNRESET|EPIPE|HPE_.*)$/.test(error.code ?? '');
    logger[gone ? 'debug' : 'error']({ err: error }, 'the answer could not be sent');
  });
  app.use(requestId);
  app.use(guardContent);
  app.use(answerErrors(logger));
  app.use(requireHost);
  for (const face of handlers) app.use(face);
  return app;
}

/** Answers are what they say they are, for the caller alone unless a face says otherwise (RFC 9111, section 5.2.2.5). */
function guardContent(ctx: Context, next: Next): Promise<void> {
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.set('Cache-Control', 'no-store');
  return next();
}

/** RFC 9112, section 3.2: an HTTP/1.1 request names its host. */
function requireHost(ctx: Context, next: Next): Promise<void> {
  if (ctx.req.httpVersion === '1.1' && ctx.headers.host === undefined) {
    throw new DomainError('VALIDATION_ERROR', 'A request needs the header Host.');
  }
  return next();
}
