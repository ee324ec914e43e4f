import type { Context, Next } from 'koa';
import { HttpMethodEnum, koaBody } from 'koa-body';
import { DomainError } from '../../domain/errors.ts';

const parse = koaBody({
  jsonTypes: ['application/json', 'application/*+json'],
  jsonLimit: 256 * 1024,
  // Whatever the method: by itself it passes over the body of a DELETE.
  parsedMethods: Object.values(HttpMethodEnum),
  urlencoded: false,
  text: false,
  onError(error, ctx) {
    // What was not read would stand before the next request of this connection.
    ctx.req.resume();
    throw bodyError(error);
  },
});

function bodyError(error: Error & { type?: string; status?: number }): DomainError {
  if (error.type === 'entity.too.large') {
    return new DomainError('PAYLOAD_TOO_LARGE', 'The body of this request may have at most 256 KiB.');
  }
  if (error instanceof SyntaxError) return new DomainError('INVALID_JSON', 'The body is not valid JSON.');
  return new DomainError('VALIDATION_ERROR', 'The body could not be read completely.', { cause: error });
}

/**
 * Reads a JSON object into `ctx.request.body`, at most 256 KiB. An absent body is an empty object.
 * @throws {DomainError} UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, INVALID_JSON (also for bytes that are not UTF-8: a lenient
 * decoder would alter them), VALIDATION_ERROR (cut off)
 */
export async function jsonBody(ctx: Context, next: Next): Promise<void> {
  if (!hasBody(ctx)) {
    ctx.request.body = {};
    return next();
  }
  if (
    !ctx.is('application/json', 'application/*+json') ||
    (ctx.get('Content-Encoding') || 'identity') !== 'identity'
  ) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as plain application/json.');
  }
  const bytes = watchUtf8(ctx);
  return parse(ctx, () => {
    if (!bytes.valid()) throw new DomainError('INVALID_JSON', 'The body is not valid UTF-8.');
    return next();
  });
}

function hasBody(ctx: Context): boolean {
  return ctx.get('Transfer-Encoding') !== '' || Number(ctx.get('Content-Length') || 0) > 0;
}

/** Checks the bytes as they pass by; the parser beside it replaces what is not UTF-8 without a word. */
function watchUtf8(ctx: Context): { valid(): boolean } {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let broken = false;
  const check = (decode: () => void) => {
    try {
      decode();
    } catch {
      broken = true; // the only error that decode has
    }
  };
  ctx.req.on('data', (chunk: Buffer) => check(() => decoder.decode(chunk, { stream: true })));
  return {
    valid() {
      check(() => decoder.decode());
      return !broken;
    },
  };
}
