import type { Context, Middleware } from 'koa';
import { koaBody } from 'koa-body';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';

const type = 'application/x-www-form-urlencoded';

/**
 * Reads the body of a form, for `formOf`.
 * @param maxBytes maximum size of the body.
 * @throws {DomainError} UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, VALIDATION_ERROR (incomplete body)
 */
export function formBody(maxBytes: number): Middleware {
  const read = koaBody({
    text: true,
    textTypes: [type],
    textLimit: maxBytes,
    json: false,
    urlencoded: false,
    onError(error, ctx) {
      // Unread bytes would be parsed as the next request of this connection.
      ctx.req.resume();
      throw bodyError(error, maxBytes);
    },
  });

  return function form(ctx: Context, next) {
    const isPlain = (ctx.get('Content-Encoding') || 'identity') === 'identity';
    if (!ctx.is(type) || !isPlain) {
      throw new DomainError('UNSUPPORTED_MEDIA_TYPE', `Send the form as ${type} without content encoding.`);
    }
    return read(ctx, next);
  };
}

/** The fields that `formBody` has read; empty when there was no form. */
export function formOf(ctx: Context): URLSearchParams {
  const text: unknown = ctx.request.body;
  return new URLSearchParams(typeof text === 'string' ? text : '');
}

function bodyError(error: Error & { type?: string }, maxBytes: number): DomainError {
  if (error.type === 'entity.too.large') {
    return new DomainError('PAYLOAD_TOO_LARGE', `The form is too large: at most ${maxBytes / 1024} KiB.`);
  }
  return new DomainError('VALIDATION_ERROR', 'The form is incomplete. Send it again.', { cause: error });
}
