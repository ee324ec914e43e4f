import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { DomainError } from '../../domain/errors.ts';
import { errorBody, errorHeaders } from './errors.ts';

/** How long a refused caller may keep the connection, in milliseconds. */
const lingerTimeoutMs = 2_000;

/** Answers a handshake with the contract's error body instead of an upgrade, and ends the connection. */
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
  // What still arrives is read and dropped: to cut the connection now could cost the caller the answer.
  socket.resume();
  const cut = setTimeout(() => socket.destroy(), lingerTimeoutMs).unref();
  socket.once('close', () => clearTimeout(cut));
}
