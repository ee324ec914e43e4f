import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { MIMEType } from 'node:util';
import { Dicer } from '@fastify/busboy';
import { parse as parseDisposition } from 'content-disposition';
import type { Context } from 'koa';
import { DomainError, wrongField } from '../../domain/errors.ts';

interface PartFields {
  filename: string;
  /** Of the part; undefined when it says none. */
  content_type: string | undefined;
}

/** The one file of a body, as it comes in. */
export interface FilePart extends PartFields {
  /** Ends once the whole body is read and in order; throws what is wrong with it. */
  bytes: AsyncIterable<Uint8Array>;
}

export interface FilePartLimits {
  /** Bytes of the file. */
  max_bytes: number;
  /** How long the client may send nothing, in milliseconds. */
  idle_ms: number;
}

/** Characters in the headers of the part. */
const maxHeadLength = 8_192;
/** Bytes of the body that are not the file. */
const maxBytesAround = 16_384;
/** RFC 2046, section 5.1.1. */
const maxBoundaryLength = 70;

/**
 * Reads a multipart/form-data body that is one file part (RFC 7578). Bytes are handed on as they are taken, never gathered.
 * @param field the name of the part.
 * @param limits a body whose Content-Length exceeds them is refused before anything is read.
 * @throws {DomainError} UNSUPPORTED_MEDIA_TYPE, ATTACHMENT_TOO_LARGE, VALIDATION_ERROR: here, or from the bytes.
 */
export async function readFilePart(ctx: Context, field: string, limits: FilePartLimits): Promise<FilePart> {
  const { max_bytes, idle_ms } = limits;
  const plain = (ctx.get('Content-Encoding') || 'identity') === 'identity';
  const form = ctx.is('multipart/form-data');
  if (form === false || !plain) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send the file as plain multipart/form-data.');
  }
  if (form === null) throw wrongField(field, 'is missing');
  const tooLarge = new DomainError('ATTACHMENT_TOO_LARGE', `A file may have at most ${max_bytes} bytes.`);
  const max_body = max_bytes + maxBytesAround;
  if ((ctx.request.length ?? 0) > max_body) throw tooLarge;

  const file = new Readable({ read: () => void ctx.req.resume() });
  file.on('error', () => undefined); // its reader gets it
  return new Promise((resolve, reject) => {
    const take = (chunk: Buffer) => {
      if (file.destroyed) throw incomplete(); // nobody reads it any more
      if (!file.push(chunk)) ctx.req.pause();
    };
    const parser = partParser(boundaryOf(ctx), field, take, (head) => resolve({ ...head, bytes: file }));
    readInto(parser, ctx.req, { max_bytes: max_body, tooLarge, idle_ms }, (error) => {
      reject(error ?? wrongField(field, 'is missing'));
      if (error) file.destroy(error);
      else file.push(null);
    });
  });
}

function boundaryOf(ctx: Context): string {
  const boundary = new MIMEType(ctx.get('Content-Type')).params.get('boundary') ?? '';
  if (boundary !== '' && boundary.length <= maxBoundaryLength) return boundary;
  const message = `The Content-Type needs a boundary of 1 to ${maxBoundaryLength} characters.`;
  throw new DomainError('VALIDATION_ERROR', message);
}

/**
 * A parser that throws from `write` what is wrong with the part. Its parts are read while it writes them, so that each write is
 * done when it returns: Dicer's own back-pressure can wait forever when a part ends while it is paused.
 */
function partParser(
  boundary: string,
  field: string,
  take: (chunk: Buffer) => void,
  onHead: (fields: PartFields) => void,
): Dicer {
  const parser = new Dicer({ boundary });
  let parts = 0;
  parser.on('part', (part) => {
    parts += 1;
    if (parts > 1) throw wrongField(field, 'must be the only part of the body');
    part.on('error', () => undefined); // the parser has reported it already
    part.on('header', (headers) => {
      onHead(headOf(headers as PartHeaders, field));
      part.on('data', take);
      part.read(0); // flow from here on, not from the next tick
    });
  });
  return parser;
}

interface BodyLimits {
  max_bytes: number;
  tooLarge: DomainError;
  idle_ms: number;
}

/**
 * Calls `onEnd` when the whole body is read and complete, or with what is wrong. It is no pipe: that would not read what follows the
 * last boundary.
 */
function readInto(
  parser: Dicer,
  req: IncomingMessage,
  { max_bytes, tooLarge, idle_ms }: BodyLimits,
  onEnd: (error?: Error) => void,
): void {
  let received = 0;
  let parsed = false;

  const idle = setTimeout(() => {
    // While the store is slow, the client cannot send.
    if (req.isPaused()) idle.refresh();
    else stop(new DomainError('VALIDATION_ERROR', `No byte of the body arrived for ${idle_ms / 1_000} s.`));
  }, idle_ms).unref();

  function release(): void {
    clearTimeout(idle);
    req.off('data', take).off('end', end).off('close', close);
  }
  function stop(reason: Error): void {
    release();
    parser.destroy();
    onEnd(reason);
  }
  function take(chunk: Buffer): void {
    idle.refresh();
    received += chunk.length;
    if (received > max_bytes) return stop(tooLarge);
    if (parsed) return;
    try {
      parser.write(chunk);
    } catch (error) {
      stop(error as Error);
    }
  }
  function end(): void {
    if (parsed) finish();
    else parser.end();
  }
  function close(): void {
    if (!req.readableEnded) stop(incomplete());
  }
  function finish(): void {
    parsed = true;
    if (!req.readableEnded) return;
    release();
    onEnd();
  }

  parser.on('finish', finish);
  parser.on('error', (error) => stop(incomplete(error)));
  req.on('data', take).on('end', end).on('close', close);
}

/** By lowercase name; the parser decodes bytes as Latin-1. */
type PartHeaders = Record<string, string[]>;

/** @throws {DomainError} VALIDATION_ERROR */
function headOf(headers: PartHeaders, field: string): PartFields {
  const length = Object.entries(headers).flat(2).join('').length;
  if (length > maxHeadLength) throw wrongField(field, 'the headers of the part are too long');
  const header = (name: string) => {
    const value = headers[name]?.at(-1);
    return value === undefined ? undefined : Buffer.from(value, 'latin1').toString();
  };
  const disposition = parseDisposition(header('content-disposition') ?? '', { multipart: true });
  const { name, filename } = disposition.parameters;
  if (name !== field) throw wrongField(field, 'must be the name of the only part');
  if (filename === undefined) throw wrongField(field, 'has no filename');
  // RFC 7578, section 4.7: out of use, and easily read wrongly.
  if (!/^(?:binary|7bit|8bit)$/i.test(header('content-transfer-encoding') ?? 'binary')) {
    throw wrongField(field, 'must not be encoded; send its bytes as they are');
  }
  return { filename, content_type: header('content-type') };
}

function incomplete(cause?: Error): DomainError {
  return new DomainError('VALIDATION_ERROR', 'The body is not complete multipart/form-data.', { cause });
}
