import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { MIMEType } from 'node:util';
import { Dicer } from '@fastify/busboy';
import { parse as parseDisposition } from 'content-disposition';
import type { Context } from 'koa';
import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';

/** A file of a body, as a stream. */
export interface FilePart {
  filename: string;
  /** Content-Type of the part, if it has one. */
  content_type: string | undefined;
  /** Throws a DomainError if the body is not valid. */
  bytes: AsyncIterable<Uint8Array>;
}

export interface FilePartLimits {
  /** Maximum size of all files. */
  max_bytes: number;
  /** The error for larger ones. */
  tooLarge: DomainError;
  /** How long the client may pause, in milliseconds. */
  idle_ms: number;
}

const multipartType = 'multipart/form-data';

/** Whether a body is multipart/form-data. */
export const isMultipart = (ctx: Context): boolean => ctx.is(multipartType) === multipartType;

/** Whether a body has no content encoding. */
export const isPlainBody = (ctx: Context): boolean =>
  (ctx.get('Content-Encoding') || 'identity') === 'identity';

/** Maximum characters in the headers of the part. */
const maxHeaderLength = 8_192;
/** Maximum bytes of the body beside the file. */
const maxOverheadBytes = 16_384;
/** Maximum parts of a form. */
const maxFormParts = 100;
/** RFC 2046, section 5.1.1. */
const maxBoundaryLength = 70;

/**
 * Reads a multipart/form-data body that is one file part (RFC 7578). Bytes are passed on as they are consumed, without buffering. They end
 * when the whole body was read and is valid.
 * @param field the name of the part.
 * @param limits a body whose Content-Length exceeds them is rejected before it is read.
 * @throws {DomainError} UNSUPPORTED_MEDIA_TYPE, `tooLarge`, VALIDATION_ERROR: from here, or from reading `bytes`.
 */
export async function readFilePart(ctx: Context, field: string, limits: FilePartLimits): Promise<FilePart> {
  const form = isPlainBody(ctx) && ctx.is(multipartType);
  if (form === false) {
    throw new DomainError(
      'UNSUPPORTED_MEDIA_TYPE',
      'Send the file as multipart/form-data without content encoding.',
    );
  }
  if (form === null) throw wrongField(field, 'is missing');
  const max_bytes = limits.max_bytes + maxOverheadBytes;
  if ((ctx.request.length ?? 0) > max_bytes) throw limits.tooLarge;

  const file = createFileStream(ctx.req);
  return new Promise((resolve, reject) => {
    const open = (headers: PartHeaders): Take => {
      const { name, filename, content_type } = parsePartHeaders(headers, field);
      if (name !== field) throw wrongField(field, 'must be the name of the part');
      if (filename === undefined) throw wrongField(field, 'has no filename');
      resolve({ filename, content_type, bytes: file });
      return (chunk) => writeTo(file, chunk, ctx.req);
    };
    const tooMany = wrongField(field, 'must be the only part of the body');
    readParts(ctx, { open, maxParts: 1, tooMany }, { ...limits, max_bytes }, (error) => {
      reject(error ?? wrongField(field, 'is missing'));
      endFile(file, error);
    });
  });
}

/** What a form in multipart/form-data sends. */
export interface FormParts {
  /** The text fields, which are before the files. */
  fields: URLSearchParams;
  /** The files, each once the one before it was read. */
  files: AsyncIterable<FilePart>;
  /** Reads the rest of the body without keeping it: a browser sends all of it before it reads the answer. */
  discard(): void;
}

/**
 * Reads a form in multipart/form-data (RFC 7578). Only its text fields are held in memory.
 * @param limits of the files; `maxFieldBytes` of all text fields.
 * @throws {DomainError} PAYLOAD_TOO_LARGE, `tooLarge`, VALIDATION_ERROR: from here, or from reading the files.
 */
export async function readFormParts(
  ctx: Context,
  { maxFieldBytes, ...limits }: FilePartLimits & { maxFieldBytes: number },
): Promise<FormParts> {
  const texts: [name: string, chunks: Buffer[]][] = [];
  const files = new Readable({ objectMode: true, read: () => undefined });
  files.on('error', () => undefined); // the reader of the files gets it
  let file: Readable | undefined;
  let fieldBytes = 0;

  function openText(name: string): Take {
    if (file) throw wrongField(name, 'must be before the files');
    const chunks: Buffer[] = [];
    texts.push([name, chunks]);
    return (chunk) => {
      fieldBytes += chunk.length;
      if (fieldBytes > maxFieldBytes) throw formTooLarge(maxFieldBytes);
      chunks.push(chunk);
    };
  }
  return new Promise((resolve, reject) => {
    const resolveFields = () => {
      const fields = texts.map(([name, chunks]) => [name, Buffer.concat(chunks).toString()]);
      resolve({ fields: new URLSearchParams(fields), files, discard });
    };
    const open = (headers: PartHeaders): Take => {
      const { name = '', filename, content_type } = parsePartHeaders(headers, 'form');
      if (filename === undefined) return openText(name);
      if (filename === '') return () => undefined; // a field without a chosen file
      if (file) endFile(file);
      const bytes = createFileStream(ctx.req);
      file = bytes;
      files.push({ filename, content_type, bytes } satisfies FilePart);
      resolveFields();
      return (chunk) => writeTo(bytes, chunk, ctx.req);
    };
    const max_bytes = limits.max_bytes + maxFieldBytes + maxFormParts * maxHeaderLength;
    const tooMany = new DomainError('PAYLOAD_TOO_LARGE', `The form has more than ${maxFormParts} parts.`);
    const opening = { open, maxParts: maxFormParts, tooMany };
    const discard = readParts(ctx, opening, { ...limits, max_bytes }, (error) => {
      if (error) reject(error);
      else resolveFields();
      if (file) endFile(file, error);
      if (error) files.destroy(error);
      else files.push(null);
    });
  });
}

/** The error for a form with more text than its page sends. */
export function formTooLarge(maxBytes: number): DomainError {
  return new DomainError('PAYLOAD_TOO_LARGE', `The form is too large: at most ${maxBytes / 1024} KiB.`);
}

/** The bytes of a file. Reading them continues the request. */
function createFileStream(req: IncomingMessage): Readable {
  const file = new Readable({ read: () => void req.resume() });
  return file.on('error', () => undefined); // the reader of `bytes` gets it
}

function writeTo(file: Readable, chunk: Buffer, req: IncomingMessage): void {
  if (file.destroyed) throw incomplete(); // it is no longer read
  if (!file.push(chunk)) req.pause();
}

function endFile(file: Readable, error?: Error): void {
  if (error) file.destroy(error);
  else file.push(null);
}

function boundaryOf(ctx: Context): string {
  const boundary = new MIMEType(ctx.get('Content-Type')).params.get('boundary') ?? '';
  if (boundary !== '' && boundary.length <= maxBoundaryLength) return boundary;
  const message = `Content-Type must have a boundary of 1 to ${maxBoundaryLength} characters.`;
  throw new DomainError('VALIDATION_ERROR', message);
}

/** Takes a chunk of a part. @throws {DomainError} if the part is not valid */
type Take = (chunk: Buffer) => void;

interface Opening {
  /** Called with each part. */
  open(headers: PartHeaders): Take;
  maxParts: number;
  /** The error for more parts. */
  tooMany: DomainError;
}

/**
 * A parser whose `write` throws a DomainError when a part is invalid. Parts are read while they are written, so that each write
 * is complete when it returns: Dicer's own back-pressure can wait forever when a part ends while it is paused.
 */
function createPartParser(boundary: string, { open, maxParts, tooMany }: Opening): Dicer {
  const parser = new Dicer({ boundary });
  let parts = 0;
  parser.on('part', (part) => {
    parts += 1;
    if (parts > maxParts) throw tooMany;
    part.on('error', () => undefined); // the parser has reported it already
    part.on('header', (headers) => {
      part.on('data', open(headers as PartHeaders));
      part.read(0); // flow from here on, not from the next tick
    });
  });
  return parser;
}

/**
 * Reads the parts of a body. Calls `onEnd` when all of it was read and is complete, or with an error. Not a pipe, which would not read the
 * bytes after the last boundary.
 * @returns what stops it without an error
 */
function readParts(
  ctx: Context,
  opening: Opening,
  { max_bytes, tooLarge, idle_ms }: FilePartLimits,
  onEnd: (error?: Error) => void,
): () => void {
  const { req } = ctx;
  const parser = createPartParser(boundaryOf(ctx), opening);
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
    discard();
    onEnd(reason);
  }
  function discard(): void {
    release();
    parser.destroy();
    req.resume();
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
  return discard;
}

/** By lower-case name. The parser decodes bytes as Latin-1. */
type PartHeaders = Record<string, string[]>;

/** @throws {DomainError} VALIDATION_ERROR */
function parsePartHeaders(headers: PartHeaders, field: string) {
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
  // Deprecated by RFC 7578, section 4.7, and easily misread.
  if (!/^(?:binary|7bit|8bit)$/i.test(header('content-transfer-encoding') ?? 'binary')) {
    throw wrongField(field, 'must not be encoded; send the raw bytes');
  }
  return { name, filename, content_type: header('content-type') };
}

function incomplete(cause?: Error): DomainError {
  return new DomainError('VALIDATION_ERROR', 'The body is not complete, valid multipart/form-data.', {
    cause,
  });
}
