import type { Context, Middleware } from 'koa';
import { koaBody } from 'koa-body';
import { DomainError } from '../../domain/errors.ts';

const type = 'application/x-www-form-urlencoded';

/**
 * Reads what a form sends, for `formOf`.
 * @param largest how many bytes the body may have.
 * @throws {DomainError} UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, VALIDATION_ERROR (cut off)
 */
export function formBody(largest: number): Middleware {
  const read = koaBody({
    text: true,
    textTypes: [type],
    textLimit: largest,
    json: false,
    urlencoded: false,
    onError(error, ctx) {
      // What was not read would stand before the next request of this connection.
      ctx.req.resume();
      throw bodyError(error, largest);
    },
  });

  return function form(ctx: Context, next) {
    const plain = (ctx.get('Content-Encoding') || 'identity') === 'identity';
    if (!ctx.is(type) || !plain) {
      throw new DomainError('UNSUPPORTED_MEDIA_TYPE', `Send the form as plain ${type}.`);
    }
    return read(ctx, next);
  };
}

/** What `formBody` has read, each field a text or several, whatever its name looks like; empty where no form was sent. */
export function formOf(ctx: Context): URLSearchParams {
  const text: unknown = ctx.request.body;
  return new URLSearchParams(typeof text === 'string' ? text : '');
}

function bodyError(error: Error & { type?: string }, largest: number): DomainError {
  if (error.type === 'entity.too.large') {
    return new DomainError('PAYLOAD_TOO_LARGE', `This form may have at most ${largest / 1024} KiB.`);
  }
  return new DomainError('VALIDATION_ERROR', 'The form could not be read completely.', { cause: error });
}
