import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { errorBody, errorHeaders } from './errors.ts';

/** How long the client may keep the connection open, in milliseconds. */
const lingerTimeoutMs = 2_000;

/** Sends an error response on a raw socket, for example instead of an upgrade, and closes the connection. */
export function refuseSocket(
  socket: Duplex,
  error: DomainError,
  request_id: string,
  extra: Record<string, string> = {},
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(errorBody(error, request_id));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    'X-Request-Id': request_id,
    ...errorHeaders(error),
    ...extra,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const status = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`;
  socket.end([status, ...lines, '', body].join('\r\n'));
  // Discards further input: closing now could discard the response before the client reads it.
  socket.resume();
  const cut = setTimeout(() => socket.destroy(), lingerTimeoutMs).unref();
  socket.once('close', () => clearTimeout(cut));
}
