import type { Context, Next } from 'koa';
import { HttpMethodEnum, koaBody } from 'koa-body';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { createJsonCounter, maxJsonValues } from './json-counter.ts';

/** In bytes. */
const maxApiBytes = 256 * 1024;

/** Reads the body of a request of the API into `ctx.request.body`, at most 256 KiB. */
export const jsonBody = createJsonBody({ maxBytes: maxApiBytes });

/**
 * Creates a middleware that reads a JSON object into `ctx.request.body`. An absent body is an empty object. It throws a DomainError:
 * UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, INVALID_JSON (also for invalid UTF-8, which a lenient decoder would alter), VALIDATION_ERROR (an
 * incomplete body, or too many values).
 */
export function createJsonBody({ maxBytes }: { maxBytes: number }) {
  const parse = koaBody({
    jsonTypes: ['application/json', 'application/*+json'],
    jsonLimit: maxBytes,
    // By default it ignores the body of a DELETE.
    parsedMethods: Object.values(HttpMethodEnum),
    urlencoded: false,
    text: false,
    onError(error, ctx) {
      // Unread bytes would be parsed as the next request of this connection.
      ctx.req.resume();
      throw bodyError(error, maxBytes);
    },
  });

  return async function readJson(ctx: Context, next: Next): Promise<void> {
    if (!isPlainJson(ctx)) {
      if (!(await discardBody(ctx))) {
        const message = 'Send the body as application/json without content encoding.';
        throw new DomainError('UNSUPPORTED_MEDIA_TYPE', message);
      }
      ctx.request.body = {};
      return next();
    }
    const bytes = watchUtf8(ctx);
    const counter = createJsonCounter();
    ctx.req.on('data', counter.add);
    return parse(ctx, () => {
      if (!bytes.isValid()) throw new DomainError('INVALID_JSON', 'The body is not valid UTF-8.');
      if (counter.hasTooMany()) {
        const message = `The body has too many values: at most ${maxJsonValues}.`;
        throw new DomainError('VALIDATION_ERROR', message);
      }
      return next();
    });
  };
}

function bodyError(error: Error & { type?: string; status?: number }, maxBytes: number): DomainError {
  if (error.type === 'entity.too.large') {
    return new DomainError('PAYLOAD_TOO_LARGE', `The body is too large: at most ${maxBytes / 1024} KiB.`);
  }
  if (/forbidden prototype/.test(error.message)) {
    return new DomainError('INVALID_JSON', 'The body has a field named __proto__, which is not allowed.');
  }
  if (error instanceof SyntaxError)
    return new DomainError('INVALID_JSON', 'The body is not a JSON object or list.');
  return incompleteBody(error);
}

const incompleteBody = (cause: unknown): DomainError =>
  new DomainError('VALIDATION_ERROR', 'The body is incomplete. Send it again.', { cause });

function isPlainJson(ctx: Context): boolean {
  const encoding = ctx.get('Content-Encoding') || 'identity';
  return encoding === 'identity' && Boolean(ctx.is('application/json', 'application/*+json'));
}

/** Discards a body. Returns whether it has no bytes; a chunked body shows this only when it arrives. */
async function discardBody({ req }: Context): Promise<boolean> {
  if (Number(req.headers['content-length'] ?? 0) > 0) return false;
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false })) if (chunk.length > 0) return false;
    return true;
  } catch (error) {
    throw incompleteBody(error);
  } finally {
    req.resume();
  }
}

/** Validates the bytes while they arrive: the parser replaces invalid UTF-8 without an error. */
function watchUtf8(ctx: Context): { isValid(): boolean } {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let isInvalid = false;
  const check = (decode: () => void) => {
    try {
      decode();
    } catch {
      isInvalid = true; // decode throws no other error
    }
  };
  ctx.req.on('data', (chunk: Buffer) => check(() => decoder.decode(chunk, { stream: true })));
  return {
    isValid() {
      check(() => decoder.decode());
      return !isInvalid;
    },
  };
}
