import { create as contentDisposition } from 'content-disposition';
import type { Context, Middleware } from 'koa';
import { isSameMediaType, servedType } from '../../../packages/core/src/domain/attachments/file-types.ts';
import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import type { UploadLimit } from '../../operations/execute/upload-limit.ts';
import { drainRefusedBody } from '../http/drain-body.ts';
import { errorBody } from '../http/errors.ts';
import type { ApiAddresses, SignedPurpose } from '../../platform/blobs/api-addresses.ts';
import { BlobMissing, type BlobStore, type ByteRange } from '../../platform/blobs/store.ts';
import { withTimeout } from '../../shared/timeout.ts';

export interface BlobParts {
  apiAddresses: ApiAddresses;
  blobs: BlobStore;
  uploads: UploadLimit;
  /** How long an upload may send nothing, in milliseconds. */
  upload_idle_ms: number;
  /** How long a download may read nothing, in milliseconds: it holds a file or a connection to the storage open. */
  download_idle_ms?: number;
}

type Purpose<Method> = Extract<SignedPurpose, { method: Method }>;

const path = /^\/blobs\/([^/]+)$/;

/**
 * Serves signed links to stored files: GET with Range, and PUT with the announced size and type. A link that was altered, has
 * expired, or is for another method gets FORBIDDEN.
 */
export function serveBlobs(parts: BlobParts): Middleware {
  const { apiAddresses, blobs, download_idle_ms = 60_000 } = parts;
  return function serveBlob(ctx, next) {
    const ticket = path.exec(ctx.path)?.[1];
    return ticket === undefined ? next() : drainRefusedBody(ctx, () => open(ctx, ticket));
  };

  async function open(ctx: Context, ticket: string): Promise<void> {
    const method = ctx.method === 'HEAD' ? 'GET' : ctx.method;
    const purpose = apiAddresses.verify(ticket);
    if (purpose?.method !== method) {
      throw new DomainError('FORBIDDEN', 'This link is invalid or has expired. Request a new one.');
    }
    try {
      if (purpose.method === 'GET') {
        await send(ctx, purpose, blobs);
        ctx.res.setTimeout(download_idle_ms, () => ctx.res.destroy());
      } else await receive(ctx, purpose, parts);
    } catch (error) {
      if (error instanceof DomainError) throw error;
      if (error instanceof BlobMissing) throw fileMissing();
      throw new DomainError('UNAVAILABLE', 'The file storage is temporarily unavailable. Try again.', {
        cause: error,
        retry_after: 5,
      });
    }
  }
}

async function send(ctx: Context, purpose: Purpose<'GET'>, blobs: BlobStore): Promise<void> {
  const { key, filename, content_type, size_bytes } = purpose;
  const etag = `"${key}"`;
  const isCurrent = ctx.get('If-Range') === '' || ctx.get('If-Range') === etag;
  const range = ctx.method === 'GET' && isCurrent ? parseByteRange(ctx.get('Range'), size_bytes) : null;
  ctx.set('Accept-Ranges', 'bytes');
  if (range === 'unsatisfiable') {
    ctx.status = 416;
    ctx.set('Content-Range', `bytes */${size_bytes}`);
    const message = `The range is outside of the file, which has ${size_bytes} bytes.`;
    ctx.body = errorBody(new DomainError('VALIDATION_ERROR', message), String(ctx.state['request_id']));
    return;
  }
  const stream = await blobs.read(key, range ?? undefined);
  ctx.set('ETag', etag);
  ctx.set('Content-Disposition', contentDisposition(filename));
  // A file must not run as a page of this service.
  ctx.set('Content-Security-Policy', "sandbox; default-src 'none'");
  ctx.status = range ? 206 : 200;
  ctx.body = stream;
  ctx.set('Content-Type', servedType(content_type));
  if (range) ctx.set('Content-Range', `bytes ${range.start}-${range.end}/${size_bytes}`);
  ctx.length = range ? range.end - range.start + 1 : size_bytes;
}

/**
 * Parses a Range header (RFC 9110, section 14.2) for a content of `size` bytes. Null: send everything, also for several ranges
 * and for units other than bytes. 'unsatisfiable': the range is outside of the content.
 */
export function parseByteRange(header: string, size: number): ByteRange | 'unsatisfiable' | null {
  const match = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/.exec(header.trim());
  if (!match) return null;
  const [, from, to, suffix] = match;
  if (from === undefined) {
    const length = Math.min(Number(suffix), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(from);
  const end = to ? Math.min(Number(to), size - 1) : size - 1;
  if (to && Number(to) < start) return null;
  return start >= size ? 'unsatisfiable' : { start, end };
}

async function receive(
  ctx: Context,
  { key, agent_id, content_type, size_bytes }: Purpose<'PUT'>,
  { blobs, uploads, upload_idle_ms }: BlobParts,
): Promise<void> {
  if (ctx.request.length !== size_bytes) throw wrongField('Content-Length', `must be ${size_bytes}`);
  if (!isSameMediaType(ctx.get('Content-Type'), content_type))
    throw wrongField('Content-Type', `must be ${content_type}`);
  await uploads.run(agent_id, () => blobs.write(key, readBody(ctx, upload_idle_ms)));
  ctx.status = 200;
  ctx.body = '';
}

/** Node checks the Content-Length: a body that ends early fails. */
async function* readBody({ req }: Context, idle_ms: number): AsyncGenerator<Uint8Array> {
  const reject = (cause: unknown): never => {
    throw new DomainError('VALIDATION_ERROR', 'The body is incomplete. Send it again.', { cause });
  };
  const chunks: AsyncIterator<Uint8Array> = req.iterator({ destroyOnReturn: false });
  const read = () =>
    withTimeout(idle_ms, chunks.next().catch(reject), () => reject(`no data received for ${idle_ms} ms`));
  try {
    for (let chunk = await read(); !chunk.done; chunk = await read()) yield chunk.value;
  } finally {
    void chunks.return?.();
  }
}

function fileMissing(): DomainError {
  return new DomainError('ATTACHMENT_NOT_FOUND', 'The file no longer exists.');
}
