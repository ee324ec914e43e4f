import { create as contentDisposition } from 'content-disposition';
import type { Context, Middleware } from 'koa';
import { DomainError, wrongField } from '../../domain/errors.ts';
import { parseByteRange } from '../http/byte-range.ts';
import { drainRefusedBody } from '../http/drain-body.ts';
import { errorBody } from '../http/errors.ts';
import type { ApiAddresses, SignedPurpose } from '../../platform/blobs/api-addresses.ts';
import { BlobMissing, type BlobStore } from '../../platform/blobs/store.ts';

type Purpose<Method> = Extract<SignedPurpose, { method: Method }>;

const path = /^\/blobs\/([^/]+)$/;

/** How long a caller may take nothing of what it is sent, in milliseconds: it holds a file or a connection to the store. */
const stallTimeoutMs = 60_000;

/**
 * The door to stored bytes for whoever has a signed address: GET with Range, and PUT of what was promised. An address that was
 * altered, has expired, or is of another method leads nowhere.
 * @param stalled after how many milliseconds a download is ended of which nothing is taken.
 */
export function serveBlobs(addresses: ApiAddresses, blobs: BlobStore, stalled = stallTimeoutMs): Middleware {
  return function blobDoor(ctx, next) {
    const ticket = path.exec(ctx.path)?.[1];
    return ticket === undefined ? next() : drainRefusedBody(ctx, () => open(ctx, ticket));
  };

  async function open(ctx: Context, ticket: string): Promise<void> {
    const method = ctx.method === 'HEAD' ? 'GET' : ctx.method;
    const purpose = addresses.verify(ticket);
    if (purpose?.method !== method) {
      throw new DomainError('FORBIDDEN', 'This address is not good, or not any more; ask for a new one.');
    }
    try {
      if (purpose.method === 'GET') {
        await send(ctx, purpose, blobs);
        ctx.res.setTimeout(stalled, () => ctx.res.destroy());
      } else await receive(ctx, purpose, blobs);
    } catch (error) {
      if (error instanceof DomainError) throw error;
      if (error instanceof BlobMissing) throw gone();
      throw new DomainError('UNAVAILABLE', 'The store does not answer just now; try again.', {
        cause: error,
        retry_after: 5,
      });
    }
  }
}

async function send(ctx: Context, purpose: Purpose<'GET'>, blobs: BlobStore): Promise<void> {
  const { key, filename, content_type, size_bytes } = purpose;
  const etag = `"${key}"`;
  const current = ctx.get('If-Range') === '' || ctx.get('If-Range') === etag;
  const range = ctx.method === 'GET' && current ? parseByteRange(ctx.get('Range'), size_bytes) : null;
  ctx.set('Accept-Ranges', 'bytes');
  if (range === 'unsatisfiable') {
    ctx.status = 416;
    ctx.set('Content-Range', `bytes */${size_bytes}`);
    const message = `There are ${size_bytes} bytes.`;
    ctx.body = errorBody(new DomainError('VALIDATION_ERROR', message), String(ctx.state['request_id']));
    return;
  }
  const stream = await blobs.read(key, range ?? undefined);
  ctx.set('ETag', etag);
  ctx.set('Content-Disposition', contentDisposition(filename));
  // Whatever it holds, it is shown to nobody as a page of this service.
  ctx.set('Content-Security-Policy', "sandbox; default-src 'none'");
  ctx.status = range ? 206 : 200;
  ctx.body = stream;
  ctx.set('Content-Type', content_type);
  if (range) ctx.set('Content-Range', `bytes ${range.start}-${range.end}/${size_bytes}`);
  ctx.length = range ? range.end - range.start + 1 : size_bytes;
}

async function receive(ctx: Context, purpose: Purpose<'PUT'>, blobs: BlobStore): Promise<void> {
  const { key, content_type, size_bytes } = purpose;
  if (ctx.request.length !== size_bytes) throw wrongField('Content-Length', `must be ${size_bytes}`);
  if (ctx.get('Content-Type') !== content_type) throw wrongField('Content-Type', `must be ${content_type}`);
  await blobs.write(key, cutOff(ctx));
  ctx.status = 200;
  ctx.body = '';
}

/** Node holds a body to its Content-Length; one that ends before it is cut off. */
async function* cutOff(ctx: Context): AsyncGenerator<Uint8Array> {
  try {
    yield* ctx.req as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw new DomainError('VALIDATION_ERROR', 'The body was cut off.', { cause: error });
  }
}

function gone(): DomainError {
  return new DomainError('ATTACHMENT_NOT_FOUND', 'There is nothing here any more.');
}
