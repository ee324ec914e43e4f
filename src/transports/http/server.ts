import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { DomainError } from '../../domain/errors.ts';
import { refuseSocket } from './refuse-socket.ts';
import { requestIdOf } from './request-id.ts';

export type HandleRequest = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** In milliseconds: for a whole request, for its headers, and between two requests of one connection. */
const timeouts = { requestTimeout: 120_000, headersTimeout: 20_000, keepAliveTimeout: 65_000 };

/** Requests of one connection that may be under way at once: more than any client sends without waiting for answers. */
const maxPipelined = 64;

/** Requests of each connection that have no complete response yet. */
const pendingResponses = new WeakMap<Duplex, number>();

/** Whether an earlier request of this connection has no complete response yet. Node does not keep the order of responses then. */
export function hasPendingResponse(socket: Duplex): boolean {
  return (pendingResponses.get(socket) ?? 0) > 0;
}

/**
 * The HTTP server of a process. What Node would answer by itself gets the contract's error form; a connection that sends
 * requests faster than it takes answers is cut, before it fills the memory of everybody.
 * @param leaving whether this process stops soon: then every answer is the last one on its connection, so that no caller sends
 * another request into one that is just being closed.
 */
export function createHttpServer(answer: HandleRequest, leaving: () => boolean = () => false): Server {
  function serve(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const count = (pendingResponses.get(socket) ?? 0) + 1;
    if (count > maxPipelined) {
      socket.destroy();
      return;
    }
    pendingResponses.set(socket, count);
    if (leaving()) response.setHeader('Connection', 'close');
    response.once('close', () => pendingResponses.set(socket, (pendingResponses.get(socket) ?? 1) - 1));
    void answer(request, response);
  }

  // The application refuses a missing Host in its own words; an expectation that nobody knows may be ignored (RFC 9110, 10.1.1).
  const server = createServer({ ...timeouts, requireHostHeader: false }, serve);
  server.on('checkExpectation', serve);
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    else refuseSocket(socket, malformed(error.code), requestIdOf(undefined));
  });
  server.on('connect', (request, socket) => {
    const error = new DomainError('METHOD_NOT_ALLOWED', 'This is no proxy.');
    refuseSocket(socket, error, requestIdOf(request.headers['x-request-id']));
  });
  return server;
}

function malformed(code: string | undefined): DomainError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new DomainError('PAYLOAD_TOO_LARGE', 'The headers of a request may have at most 16 KiB.');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new DomainError('VALIDATION_ERROR', 'The request took too long to arrive.');
  }
  return new DomainError('VALIDATION_ERROR', 'This is not a well-formed HTTP request.');
}

/** Resolves when the server listens; rejects when the address cannot be had. */
export function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog: 2048 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Takes no more connections, waits for the calls under way, and cuts those that take longer than three seconds. */
export function closeServer(server: Server): Promise<void> {
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const late = setTimeout(() => server.closeAllConnections(), 3_000);
  return new Promise((resolve, reject) => {
    server.close((error) => {
      clearInterval(idle);
      clearTimeout(late);
      if (error) reject(error);
      else resolve();
    });
  });
}
