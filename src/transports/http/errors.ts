import type { Context, Next } from 'koa';
import { DomainError, type ErrorDetail } from '../../domain/errors.ts';
import type { Logger } from '../../platform/observability/logger.ts';

export interface ErrorBody {
  error: {
    code: string;
    message: string;
    details?: ErrorDetail[];
    request_id: string;
  };
}

/** The contract's error body (section 7). */
export function errorBody(error: DomainError, request_id: string): ErrorBody {
  const { code, message, details } = error;
  return { error: { code, message, ...(details && { details }), request_id } };
}

/** Any throwable as a domain error; what nobody threw on purpose is INTERNAL and tells nothing of its cause. */
export function toDomainError(thrown: unknown): DomainError {
  if (thrown instanceof DomainError) return thrown;
  return new DomainError('INTERNAL', 'Something went wrong on our side; the request id helps to find it.', {
    cause: thrown,
  });
}

/** Headers that an error brings with it (RFC 9110, Retry-After). */
export function errorHeaders(error: DomainError): Record<string, string> {
  return error.retry_after === undefined ? {} : { 'Retry-After': String(error.retry_after) };
}

/** Writes an error into the answer, whose status and headers are set. */
export type WriteError = (ctx: Context, error: DomainError, request_id: string) => void;

const writeJson: WriteError = (ctx, error, request_id) => {
  ctx.body = errorBody(error, request_id);
};

/** The one place that turns whatever was thrown into an answer: the contract's error body, unless a face writes its own. */
export function answerErrors(logger: Logger, write = writeJson) {
  const outages = oncePerSecond();
  return async function errors(ctx: Context, next: Next): Promise<void> {
    try {
      await next();
      if (ctx.status === 404 && ctx.body === undefined && ctx.respond !== false) {
        throw new DomainError('NOT_FOUND', `There is nothing at ${ctx.method} ${ctx.path}.`);
      }
    } catch (thrown) {
      const error = toDomainError(thrown);
      const request_id = String(ctx.state['request_id']);
      if (error.code === 'INTERNAL' || (error.code === 'UNAVAILABLE' && outages.shouldLog())) {
        logger.error(
          { err: error.cause ?? error, request_id, method: ctx.method, path: ctx.path },
          error.code,
        );
      }
      ctx.status = error.status;
      ctx.set(errorHeaders(error));
      write(ctx, error, request_id);
    }
  };
}

/** An outage refuses every call; one line a second tells of it as well as a thousand do. */
function oncePerSecond(): { shouldLog(): boolean } {
  let quietUntil = 0;
  return {
    shouldLog() {
      if (Date.now() < quietUntil) return false;
      quietUntil = Date.now() + 1_000;
      return true;
    },
  };
}
