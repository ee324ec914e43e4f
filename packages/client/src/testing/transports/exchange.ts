import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { DomainError, wrongField } from '../../../../core/src/domain/errors.ts';

const maxBodyBytes = 256 * 1024;
const maxUploadBytes = 11 * 1024 * 1024;

/** One request and its answer. */
export interface Exchange {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  request_id: string;
  /** Aborted when the caller is gone. */
  signal: AbortSignal;
  setHeader(name: string, value: string): void;
  /** @throws {DomainError} PAYLOAD_TOO_LARGE */
  readBody(maxBytes?: number): Promise<Buffer>;
  /** The JSON object of the body. @throws {DomainError} UNSUPPORTED_MEDIA_TYPE, INVALID_JSON, VALIDATION_ERROR */
  readJson(): Promise<Record<string, unknown>>;
  /** The only file of a multipart body. @throws {DomainError} UNSUPPORTED_MEDIA_TYPE, VALIDATION_ERROR */
  readFile(field: string): Promise<{ filename: string; content_type: string; bytes: Buffer }>;
  json(status: number, body: object): void;
  send(status: number, body?: string | Buffer): void;
}

/** Wraps a request of the HTTP server. */
export function createExchange(request: IncomingMessage, response: ServerResponse): Exchange {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
  const { headers, method = 'GET' } = request;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const requestId = headers['x-request-id'];
  const request_id =
    typeof requestId === 'string' && /^[\w.-]{1,128}$/.test(requestId) ? requestId : randomUUID();
  response.setHeader('X-Request-Id', request_id);

  const exchange: Exchange = {
    method,
    path: pathname,
    query: searchParams,
    headers,
    request_id,
    signal: gone.signal,
    setHeader: (name, value) => void response.setHeader(name, value),
    async readBody(maxBytes = maxBodyBytes) {
      const chunks: Buffer[] = [];
      let length = 0;
      for await (const chunk of request as AsyncIterable<Buffer>) {
        length += chunk.length;
        if (length <= maxBytes) chunks.push(chunk);
      }
      if (length <= maxBytes) return Buffer.concat(chunks);
      throw new DomainError('PAYLOAD_TOO_LARGE', `The body is too large: at most ${maxBytes / 1024} KiB.`);
    },
    async readJson() {
      const body = await exchange.readBody();
      if (body.length === 0) return {};
      if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(headers['content-type'] ?? ''))
        throw new DomainError(
          'UNSUPPORTED_MEDIA_TYPE',
          'Send the body as application/json without content encoding.',
        );
      return parseObject(body);
    },
    async readFile(field) {
      const type = headers['content-type'] ?? '';
      const body = await exchange.readBody(maxUploadBytes);
      if (!type.startsWith('multipart/form-data'))
        throw new DomainError(
          'UNSUPPORTED_MEDIA_TYPE',
          'Send the file as multipart/form-data without content encoding.',
        );
      return readPart(body, type, field);
    },
    json(status, body) {
      response.setHeader('Content-Type', 'application/json; charset=utf-8');
      exchange.send(status, JSON.stringify(body));
    },
    send(status, body = '') {
      response.writeHead(status).end(body);
    },
  };
  return exchange;
}

function parseObject(body: Buffer): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null)
    throw new DomainError('INVALID_JSON', 'The body is not a JSON object or list.');
  if (Array.isArray(value)) throw new DomainError('VALIDATION_ERROR', 'The body must be a JSON object.');
  return value as Record<string, unknown>;
}

async function readPart(body: Buffer, type: string, field: string) {
  const headers = { 'Content-Type': type };
  // A body that is not a form has no file: refused below.
  const form = await new Response(new Uint8Array(body), { headers }).formData().catch(() => undefined);
  const file = form?.get(field);
  if (!(file instanceof File)) throw wrongField(field, 'is missing');
  const bytes = Buffer.from(await file.arrayBuffer());
  return { filename: file.name, content_type: file.type, bytes };
}
