import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from './listen.ts';

/**
 * What becomes of one request: it is done; it is done, and the connection cut before the answer (`lost`); half of the answer comes, and
 * then the connection is cut (`half`) or silent (`stuck`); nothing is done, and the connection is cut or silent; it is refused so.
 */
export type FaultyResponse = 'do' | 'lost' | 'half' | 'stuck' | 'cut' | 'hang' | number;

/** The deeds for the requests about one object, in their order; the last one stands for all that follow. */
export interface FaultPlan {
  PUT?: FaultyResponse[];
  GET?: FaultyResponse[];
  DELETE?: FaultyResponse[];
}

/** A file that tells the store what is to become of the requests about it; tests that run beside each other do not meet so. */
export function buildPlannedFile(plan: FaultPlan): Buffer {
  return Buffer.from(JSON.stringify({ ...plan, name: randomUUID(), padding: 'x'.repeat(200_000) }));
}

interface StoredObject {
  bytes: Buffer;
  at: number;
}

/** An S3 server of one bucket, in memory, as ill as it is told to be. It knows no secrets. */
export async function startFaultyS3() {
  const objects = new Map<string, StoredObject>();
  /** The last content of each key. */
  const brought = new Map<string, Buffer>();
  const requests: string[] = [];
  /** For requests about the bucket. */
  const listing: { deed: FaultyResponse } = { deed: 'do' };

  function deedFor(method: string, key: string): FaultyResponse {
    const deeds = readPlan(brought.get(key))[method as keyof FaultPlan] ?? [];
    const turn = requests.filter((one) => one === `${method} ${key}`).length;
    return deeds[Math.min(turn, deeds.length) - 1] ?? 'do';
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://store');
    const method = request.method ?? '';
    const key = pathname.split('/').slice(2).join('/');
    const body = await buffer(request);
    if (method === 'PUT') brought.set(key, body);
    requests.push(`${method} ${key}`);
    const deed = key === '' ? listing.deed : deedFor(method, key);
    if (deed === 'hang') return;
    if (deed === 'cut') return void request.socket.destroy();
    if (typeof deed === 'number') return sendError(response, deed, errorCodes[deed] ?? 'InternalError');
    if (method === 'PUT') {
      objects.set(key, { bytes: body, at: Date.now() });
      if (digestOf(body) !== request.headers['x-amz-checksum-sha256'])
        return sendError(response, 400, 'BadDigest');
    }
    if (method === 'DELETE') objects.delete(key);
    if (deed === 'lost') return void request.socket.destroy();
    if (key === '') return void response.end(renderListing(objects, searchParams));
    if (method !== 'GET') return void response.writeHead(method === 'PUT' ? 200 : 204).end();
    const found = objects.get(key);
    if (!found) return sendError(response, 404, 'NoSuchKey');
    send(response, found.bytes, request.headers.range, deed);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const { url, close } = await listen(server);
  return {
    objects,
    listing,
    /** How often it was requests to do this with these bytes, under whatever keys. */
    countAttempts(method: string, bytes: Buffer): number {
      const keys = Array.from(brought.keys()).filter((key) => brought.get(key)?.equals(bytes));
      return requests.filter((one) => keys.some((key) => one === `${method} ${key}`)).length;
    },
    /** The objects that hold these bytes. */
    countCopies: (bytes: Buffer) =>
      Array.from(objects.values()).filter((object) => object.bytes.equals(bytes)),
    env: {
      S3_ENDPOINT: url,
      S3_BUCKET: 'bucket',
      S3_ACCESS_KEY_ID: 'id',
      S3_SECRET_ACCESS_KEY: 'secret',
      S3_TIMEOUT_SECONDS: '2',
    },
    close,
  };
}

const errorCodes: Record<number, string> = {
  403: 'SignatureDoesNotMatch',
  404: 'NoSuchBucket',
  503: 'SlowDown',
};

function sendError(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'Content-Type': 'application/xml' });
  response.end(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}

function send(
  response: ServerResponse,
  whole: Buffer,
  range: string | undefined,
  deed: FaultyResponse,
): void {
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
  const bytes = start === undefined ? whole : whole.subarray(Number(start), Number(end) + 1);
  response.writeHead(start === undefined ? 200 : 206, { 'Content-Length': bytes.length });
  if (deed === 'do') return void response.end(bytes);
  response.write(bytes.subarray(0, bytes.length / 2), () => {
    if (deed === 'half') response.destroy();
  });
}

function renderListing(objects: ReadonlyMap<string, StoredObject>, requests: URLSearchParams): string {
  const keys = Array.from(objects.keys())
    .filter((key) => key > (requests.get('start-after') ?? ''))
    .sort();
  const page = keys.slice(0, Number(requests.get('max-keys')));
  const lines = page.map((key) => {
    const time = new Date(objects.get(key)?.at ?? 0).toISOString();
    return `<Contents><Key>${key}</Key><LastModified>${time}</LastModified></Contents>`;
  });
  const truncated = `<IsTruncated>${page.length < keys.length}</IsTruncated>`;
  return `<?xml version="1.0"?><ListBucketResult>${truncated}${lines.join('')}</ListBucketResult>`;
}

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64');

function readPlan(bytes: Buffer | undefined): FaultPlan {
  try {
    return JSON.parse(String(bytes)) as FaultPlan;
  } catch {
    return {}; // any other file
  }
}
