import { PassThrough, type Transform, Writable } from 'node:stream';
import { parse as parseDisposition } from 'content-disposition';
import { multipart as parseMultipart, type Part } from 'formidable';
import type { Context } from 'koa';
import { koaBody } from 'koa-body';
import { DomainError, wrongField } from '../domain/errors.ts';

interface PartHead {
  filename: string;
  /** Of the part; undefined when it says none. */
  content_type: string | undefined;
}

/** The one file of a body, as it comes in. */
export interface FilePart extends PartHead {
  /** Ends once the whole body is read and in order; throws what is wrong with it. */
  bytes: AsyncIterable<Uint8Array>;
}

/** What may stand before a file: the headers of its part, in bytes. Patterns are applied to them that take long for long texts. */
const longestHead = 8_192;
/** What may stand around a file altogether. */
const mostAround = 16_384;
const held = 262_144;

/**
 * Reads a multipart/form-data body that is one file part (RFC 7578). Bytes are handed on as they are taken, never gathered.
 * @param field the name of the part.
 * @param largest how many bytes the file may have; a body that says it has more is refused before anything is read.
 * @throws {DomainError} UNSUPPORTED_MEDIA_TYPE, ATTACHMENT_TOO_LARGE, VALIDATION_ERROR: here, or from the bytes.
 */
export async function filePart(ctx: Context, field: string, largest: number): Promise<FilePart> {
  const plain = (ctx.get('Content-Encoding') || 'identity') === 'identity';
  if (ctx.is('multipart/form-data') === false || !plain) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send the file as plain multipart/form-data.');
  }
  const tooLarge = new DomainError('ATTACHMENT_TOO_LARGE', `A file may have at most ${largest} bytes.`);
  const most = largest + mostAround;
  if ((ctx.request.length ?? 0) > most) throw tooLarge;
  const file = new PassThrough({ highWaterMark: held });
  file.on('error', () => undefined); // whoever reads it hears of it
  const { promise: part, resolve } = withResolver<PartHead>();
  const read = koaBody({
    multipart: true,
    formidable: {
      allowEmptyFiles: true,
      minFileSize: 0,
      maxFileSize: Number.MAX_SAFE_INTEGER, // the reader counts, and stops
      fileWriteStreamHandler: () => inBatches(file),
      enabledPlugins: [parseMultipart, noMoreThan(most, tooLarge), oneFile(field, resolve)],
    },
    onError(error) {
      throw bodyError(error);
    },
  });
  const whole = read(ctx, () => Promise.resolve());
  whole.catch((error: Error) => file.destroy(error));
  const failed = whole.then(() => {
    throw wrongField(field, 'is missing');
  });

  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield* file as AsyncIterable<Uint8Array>;
    await whole;
  }
  try {
    return { ...(await Promise.race([part, failed])), bytes: bytes() };
  } finally {
    failed.catch(() => undefined); // told by the bytes from here on
  }
}

function withResolver<T>(): { promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/**
 * Formidable lets the request go on when the first of many small writes is done, so that they would pile up: here they are done
 * together.
 */
function inBatches(file: PassThrough): Writable {
  return new Writable({
    highWaterMark: held,
    writev(pieces, done) {
      file.write(Buffer.concat(pieces.map(({ chunk }) => chunk as Buffer)), done);
    },
    final(done) {
      file.end();
      done();
    },
    destroy(error, done) {
      if (error) file.destroy(error);
      done(error);
    },
  });
}

interface ParserEvent {
  name: string;
  start?: number;
  end?: number;
}

/** What plugins of formidable are handed. */
interface Form {
  onPart(part: Part): unknown;
  on(event: 'progress', listener: (received: number) => void): void;
}

/** Null for a body without boundary, which is refused already. */
function parserOf(form: Form): Transform | null {
  return Reflect.get(form, '_parser') as Transform | null;
}

/** A plugin of formidable that ends a body at so many bytes, whatever they are: it may go on before its first part for ever. */
function noMoreThan(most: number, refusal: DomainError) {
  return function plugin(given: unknown): void {
    const form = given as Form;
    form.on('progress', (received) => {
      if (received > most) parserOf(form)?.destroy(refusal);
    });
  };
}

/** A plugin of formidable that lets one file part through and refuses all else, before it takes any memory. */
function oneFile(field: string, opened: (part: PartHead) => void) {
  return function plugin(given: unknown): void {
    const form = given as Form;
    const takePart = form.onPart.bind(form);
    const parser = parserOf(form);
    if (!parser) return;
    let parts = 0;
    let head = 0;
    // Before formidable's own listener, which would put long headers together first.
    parser.prependListener('data', ({ name, start = 0, end = 0 }: ParserEvent) => {
      if (name === 'partBegin') {
        parts += 1;
        if (parts > 1) parser.destroy(wrongField(field, 'must be the only part of the body'));
      } else if (name.startsWith('header')) {
        head += end - start;
        if (head > longestHead) parser.destroy(wrongField(field, 'the headers of the part are too long'));
      }
    });
    form.onPart = (part) => {
      const refuse = (why: string) => void parser.destroy(wrongField(field, why));
      if (part.name !== field) return refuse('must be the name of the only part');
      const headers = Reflect.get(part, 'headers') as Record<string, string>;
      const { filename } = parseDisposition(headers['content-disposition'] ?? '', {
        multipart: true,
      }).parameters;
      if (filename === undefined) return refuse('has no filename');
      // RFC 7578, section 4.7: out of use, and easily read wrongly.
      if (!/^(?:binary|7bit|8bit)$/i.test(headers['content-transfer-encoding'] ?? 'binary')) {
        return refuse('must not be encoded; send its bytes as they are');
      }
      opened({ filename, content_type: part.mimetype ?? undefined });
      // A part that does not say what it is, formidable takes for a field.
      part.mimetype ??= 'application/octet-stream';
      return takePart(part);
    };
  };
}

function bodyError(error: Error): DomainError {
  if (error instanceof DomainError) return error;
  return new DomainError('VALIDATION_ERROR', 'The body is not complete multipart/form-data.', {
    cause: error,
  });
}
