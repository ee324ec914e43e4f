import type { Context, Middleware } from 'koa';
import { koaBody } from 'koa-body';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import {
  type FilePart,
  type FilePartLimits,
  formTooLarge,
  isMultipart,
  isPlainBody,
  readFormParts,
} from './multipart.ts';

const type = 'application/x-www-form-urlencoded';

/**
 * Reads the body of a form, for `formOf`.
 * @param maxBytes maximum size of its fields.
 * @param fileLimits of the files, for a form with files (multipart/form-data). They are read when the route reads `filesOf`.
 * @throws {DomainError} UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, VALIDATION_ERROR (incomplete body)
 */
export function formBody(maxBytes: number, fileLimits?: FilePartLimits): Middleware {
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

  return async function form(ctx: Context, next) {
    if (fileLimits && isPlainBody(ctx) && isMultipart(ctx)) {
      const { fields, files, discard } = await readFormParts(ctx, { ...fileLimits, maxFieldBytes: maxBytes });
      ctx.request.body = fields.toString();
      ctx.state['files'] = files;
      return next().finally(discard);
    }
    if (!isPlainBody(ctx) || !ctx.is(type)) {
      throw new DomainError('UNSUPPORTED_MEDIA_TYPE', `Send the form as ${type} without content encoding.`);
    }
    return read(ctx, next);
  };
}

/** The files of a form, each once the one before it was read. */
export function filesOf(ctx: Context): AsyncIterable<FilePart> | Iterable<FilePart> {
  return (ctx.state as { files?: AsyncIterable<FilePart> }).files ?? [];
}

/** The fields that `formBody` has read; empty when there was no form. */
export function formOf(ctx: Context): URLSearchParams {
  const text: unknown = ctx.request.body;
  return new URLSearchParams(typeof text === 'string' ? text : '');
}

function bodyError(error: Error & { type?: string }, maxBytes: number): DomainError {
  if (error.type === 'entity.too.large') return formTooLarge(maxBytes);
  return new DomainError('VALIDATION_ERROR', 'The form is incomplete. Send it again.', { cause: error });
}
