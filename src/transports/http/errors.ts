import type { Context, Next } from 'koa';
import { DomainError, type ErrorDetail } from '../../../packages/core/src/domain/errors.ts';
import type { Logger } from '../../platform/observability/logger.ts';
import { steadyNow } from '../../shared/clock.ts';

export interface ErrorBody {
  error: {
    code: string;
    message: string;
    details?: ErrorDetail[];
    approval?: DomainError['approval'];
    request_id: string;
  };
}

/** The JSON body of every error response, with advice in the form of the transport. */
export function errorBody(error: DomainError, request_id: string, form: 'rest' | 'call' = 'rest'): ErrorBody {
  const { code, details, advice, approval } = error;
  const message = advice ? `${error.message} ${advice[form]}` : error.message;
  return { error: { code, message, ...(details && { details }), ...(approval && { approval }), request_id } };
}

/** Converts anything thrown to a DomainError. An unexpected error becomes INTERNAL, without details. */
export function toDomainError(thrown: unknown): DomainError {
  if (thrown instanceof DomainError) return thrown;
  return new DomainError('INTERNAL', 'Internal error. Include the request id when you report it.', {
    cause: thrown,
  });
}

/** Headers of an error response: Retry-After (RFC 9110, section 10.2.3). */
export function errorHeaders(error: DomainError): Record<string, string> {
  return error.retry_after === undefined ? {} : { 'Retry-After': String(error.retry_after) };
}

/** Writes the body of an error response. Status and headers are set already. */
export type WriteError = (ctx: Context, error: DomainError, request_id: string) => void;

const writeJson: WriteError = (ctx, error, request_id) => {
  ctx.body = errorBody(error, request_id);
};

/** Turns anything thrown into an error response: a JSON body, unless a transport writes its own. */
export function answerErrors(logger: Logger, write = writeJson) {
  const outages = oncePerSecond();
  return async function errors(ctx: Context, next: Next): Promise<void> {
    try {
      await next();
      if (ctx.status === 404 && ctx.body === undefined && ctx.respond !== false) {
        throw new DomainError('NOT_FOUND', `No such endpoint: ${ctx.method} ${ctx.path}.`);
      }
    } catch (thrown) {
      const error = toDomainError(thrown);
      const request_id = String(ctx.state['request_id']);
      const about = { request_id, method: ctx.method, path: withoutSecret(ctx.path) };
      // Without a cause nothing failed: the caller comes too early, or too many come at once.
      const isOutage = error.code === 'UNAVAILABLE' && error.cause !== undefined;
      if (error.code === 'INTERNAL' || (isOutage && outages.shouldLog()))
        logger.error({ err: error.cause ?? error, ...about }, error.code);
      else if (error.code === 'UNAVAILABLE' && !isOutage)
        logger.debug({ reason: error.message, ...about }, error.code);
      ctx.status = error.status;
      ctx.set(errorHeaders(error));
      write(ctx, error, request_id);
    }
  };
}

/** The addresses of A2A that need no token, of watch links, and of invitations to organizations have a secret. */
const withoutSecret = (path: string): string =>
  path.replace(/^(\/a2a\/-\/\w+\/|\/watch\/|\/console\/invitations\/).+$/, '$1…');

/** Limits log entries during an outage, when every request fails. */
function oncePerSecond(): { shouldLog(): boolean } {
  let nextLogAt = 0;
  return {
    shouldLog() {
      if (steadyNow() < nextLogAt) return false;
      nextLogAt = steadyNow() + 1_000;
      return true;
    },
  };
}
