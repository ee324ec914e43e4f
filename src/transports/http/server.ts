import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { describeError } from '../../shared/error-log.ts';
import { refuseSocket } from './refuse-socket.ts';
import { requestIdOf } from './requests/request-id.ts';

export type HandleRequest = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** In milliseconds. */
const timeouts = { requestTimeout: 120_000, headersTimeout: 20_000, keepAliveTimeout: 65_000 };
/** A connection on which nothing moves during a response is closed after this time, in milliseconds. */
const silentMs = 120_000;

/** Maximum pipelined requests of a connection: more than any real client sends without waiting for responses. */
const maxPipelined = 64;

/** Requests of each connection that have no complete response yet. */
const pendingResponses = new WeakMap<Duplex, number>();

/** Whether an earlier request of this connection has no complete response yet. Node does not keep the order of responses then. */
export function hasPendingResponse(socket: Duplex): boolean {
  return (pendingResponses.get(socket) ?? 0) > 0;
}

/**
 * The HTTP server of a process. Errors that Node reports by itself get the usual error body. A connection that sends requests
 * without reading the responses is cut, to bound memory.
 * @param isStopping whether the process stops soon: responses then close their connection, so that no request arrives on one
 * that is being closed.
 */
export function createHttpServer(
  handle: HandleRequest,
  isStopping: () => boolean = () => false,
  timeout = silentMs,
): Server {
  function serve(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const count = (pendingResponses.get(socket) ?? 0) + 1;
    if (count > maxPipelined) {
      socket.destroy();
      return;
    }
    pendingResponses.set(socket, count);
    if (isStopping()) response.setHeader('Connection', 'close');
    response.once('close', () => pendingResponses.set(socket, (pendingResponses.get(socket) ?? 1) - 1));
    useOriginForm(request);
    void handle(request, response);
  }

  // The application checks Host itself. Unknown expectations may be ignored (RFC 9110, section 10.1.1).
  const server = createServer({ ...timeouts, requireHostHeader: false }, serve);
  server.timeout = timeout;
  server.on('checkExpectation', serve);
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    else refuseSocket(socket, malformed(error.code), requestIdOf(undefined));
  });
  server.on('connect', (request, socket) => {
    const error = new DomainError(
      'METHOD_NOT_ALLOWED',
      'CONNECT is not supported: this server is not a proxy.',
    );
    refuseSocket(socket, error, requestIdOf(request.headers['x-request-id']));
  });
  return server;
}

function malformed(code: string | undefined): DomainError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new DomainError('PAYLOAD_TOO_LARGE', 'The request headers are too large: at most 16 KiB.');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new DomainError('VALIDATION_ERROR', 'Timeout: the request was not received completely.');
  }
  return new DomainError('VALIDATION_ERROR', 'Malformed HTTP request.');
}

/**
 * Resolves when the server listens.
 * @param settings the names of the settings for this address.
 * @throws {Error} when the address is not available.
 */
export async function listen(server: Server, port: number, host: string, settings: string): Promise<void> {
  server.listen({ port, host, backlog: 2048 });
  await once(server, 'listening').catch((cause: unknown) => {
    throw new Error(`${settings}: ${describeError(cause)}; choose another address`, { cause });
  });
}

/** Stops accepting connections and waits for pending requests, at most three seconds. */
export function closeServer(server: Server): Promise<void> {
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const cut = setTimeout(() => server.closeAllConnections(), 3_000);
  return new Promise((resolve, reject) => {
    server.close((error) => {
      clearInterval(idle);
      clearTimeout(cut);
      if (error) reject(error);
      else resolve();
    });
  });
}

const absoluteTarget = /^[a-z][a-z\d+.-]*:\/\/(?<authority>[^/?#]*)(?<rest>.*)$/is;
/** A name or an address, and a port (RFC 3986, section 3.2.2). */
const hostPattern = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(?::\d*)?$/i;

/** Turns an absolute request target into its path. Its authority replaces Host (RFC 9112, section 3.2.2). */
export function useOriginForm(request: IncomingMessage): void {
  const { authority, rest = '' } = absoluteTarget.exec(request.url ?? '')?.groups ?? {};
  if (authority === undefined) return;
  request.headers.host = authority;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
}

/**
 * Checks the Host header (RFC 9112, section 3.2).
 * @throws {DomainError} VALIDATION_ERROR when it is missing, repeated or invalid.
 */
export function requireHost({ headers, httpVersion, rawHeaders }: IncomingMessage): void {
  const values = rawHeaders.filter(
    (_, index) => rawHeaders[index - 1]?.toLowerCase() === 'host' && index % 2 === 1,
  );
  if (values.length === 0 && httpVersion === '1.0') return;
  if (values.length === 0) throw invalidHost('The Host header is missing.');
  if (values.length > 1) throw invalidHost('The request has several Host headers. Send one.');
  for (const host of [...values, headers.host ?? '']) requireValidHost(host);
}

/** @throws {DomainError} VALIDATION_ERROR */
export function requireValidHost(host: string): void {
  if (hostPattern.test(host) && URL.canParse(`http://${host}`)) return;
  throw invalidHost(
    'The Host header is invalid. Send a host name or address, with a port if it is not the default one.',
  );
}

function invalidHost(message: string): DomainError {
  return new DomainError('VALIDATION_ERROR', message);
}
