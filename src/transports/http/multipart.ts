import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { MIMEType } from 'node:util';
import { Dicer } from '@fastify/busboy';
import { parse as parseDisposition } from 'content-disposition';
import type { Context } from 'koa';
import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';

interface PartFields {
  filename: string;
  /** Content-Type of the part, if it has one. */
  content_type: string | undefined;
}

/** The only file of a body, as a stream. */
export interface FilePart extends PartFields {
  /** Ends when the whole body was read and is valid; otherwise throws a DomainError. */
  bytes: AsyncIterable<Uint8Array>;
}

export interface FilePartLimits {
  /** Maximum size of the file. */
  max_bytes: number;
  /** The error for a larger file. */
  tooLarge: DomainError;
  /** How long the client may pause, in milliseconds. */
  idle_ms: number;
}

/** Maximum characters in the headers of the part. */
const maxHeaderLength = 8_192;
/** Maximum bytes of the body beside the file. */
const maxOverheadBytes = 16_384;
/** RFC 2046, section 5.1.1. */
const maxBoundaryLength = 70;

/**
 * Reads a multipart/form-data body that is one file part (RFC 7578). Bytes are passed on as they are consumed, without buffering.
 * @param field the name of the part.
 * @param limits a body whose Content-Length exceeds them is rejected before it is read.
 * @throws {DomainError} UNSUPPORTED_MEDIA_TYPE, `tooLarge`, VALIDATION_ERROR: from here, or from reading `bytes`.
 */
export async function readFilePart(ctx: Context, field: string, limits: FilePartLimits): Promise<FilePart> {
  const { max_bytes, tooLarge, idle_ms } = limits;
  const isPlain = (ctx.get('Content-Encoding') || 'identity') === 'identity';
  const form = ctx.is('multipart/form-data');
  if (form === false || !isPlain) {
    throw new DomainError(
      'UNSUPPORTED_MEDIA_TYPE',
      'Send the file as multipart/form-data without content encoding.',
    );
  }
  if (form === null) throw wrongField(field, 'is missing');
  const max_body = max_bytes + maxOverheadBytes;
  if ((ctx.request.length ?? 0) > max_body) throw tooLarge;

  const file = new Readable({ read: () => void ctx.req.resume() });
  file.on('error', () => undefined); // the reader of `bytes` gets it
  return new Promise((resolve, reject) => {
    const take = (chunk: Buffer) => {
      if (file.destroyed) throw incomplete(); // it is no longer read
      if (!file.push(chunk)) ctx.req.pause();
    };
    const parser = createPartParser(boundaryOf(ctx), field, take, (fields) =>
      resolve({ ...fields, bytes: file }),
    );
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
  const message = `Content-Type must have a boundary of 1 to ${maxBoundaryLength} characters.`;
  throw new DomainError('VALIDATION_ERROR', message);
}

/**
 * A parser whose `write` throws a DomainError when the part is invalid. Parts are read while they are written, so that each write
 * is complete when it returns: Dicer's own back-pressure can wait forever when a part ends while it is paused.
 */
function createPartParser(
  boundary: string,
  field: string,
  take: (chunk: Buffer) => void,
  onFields: (fields: PartFields) => void,
): Dicer {
  const parser = new Dicer({ boundary });
  let parts = 0;
  parser.on('part', (part) => {
    parts += 1;
    if (parts > 1) throw wrongField(field, 'must be the only part of the body');
    part.on('error', () => undefined); // the parser has reported it already
    part.on('header', (headers) => {
      onFields(parsePartHeaders(headers as PartHeaders, field));
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
 * Calls `onEnd` when the whole body was read and is complete, or with an error. Not a pipe, which would not read the bytes after
 * the last boundary.
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
    // The client cannot send while the storage is slow.
    if (req.isPaused()) idle.refresh();
    else stop(new DomainError('VALIDATION_ERROR', `Timeout: no data received for ${idle_ms / 1_000} s.`));
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

/** By lower-case name. The parser decodes bytes as Latin-1. */
type PartHeaders = Record<string, string[]>;

/** @throws {DomainError} VALIDATION_ERROR */
function parsePartHeaders(headers: PartHeaders, field: string): PartFields {
  const length = Object.entries(headers).flat(2).join('').length;
  if (length > maxHeaderLength) throw wrongField(field, 'has headers that are too long');
  const header = (name: string) => {
    const value = headers[name]?.at(-1);
    return value === undefined ? undefined : Buffer.from(value, 'latin1').toString();
  };
  // The parser takes a backslash as a character of the name, as browsers send it.
  const quoted = (header('content-disposition') ?? '').replaceAll(/\\["\\]/g, '_');
  const disposition = parseDisposition(quoted, { multipart: true });
  const { name, filename } = disposition.parameters;
  if (name !== field) throw wrongField(field, 'must be the name of the part');
  if (filename === undefined) throw wrongField(field, 'has no filename');
  // Deprecated by RFC 7578, section 4.7, and easily misread.
  if (!/^(?:binary|7bit|8bit)$/i.test(header('content-transfer-encoding') ?? 'binary')) {
    throw wrongField(field, 'must not be encoded; send the raw bytes');
  }
  return { filename, content_type: header('content-type') };
}

function incomplete(cause?: Error): DomainError {
  return new DomainError('VALIDATION_ERROR', 'The body is not complete, valid multipart/form-data.', {
    cause,
  });
}
