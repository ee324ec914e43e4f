import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { type ServerOptions, WebSocketServer } from 'ws';
import { DomainError } from '../../domain/errors.ts';
import { challengeFor } from '../http/authenticate.ts';
import { toDomainError } from '../http/errors.ts';
import { hasPendingResponse } from '../http/server.ts';
import { requestIdOf } from '../http/request-id.ts';
import type { Realtime, StreamReader } from '../../realtime/contract.ts';
import { type Connection, serveConnection } from './connection.ts';
import { type HandshakeAuth, authenticateHandshake, readHandshake, tokenProtocol } from './handshake.ts';
import { closeCodes, defaultLimits, type WebSocketLimits } from './limits.ts';
import { isWebSocketUpgrade, unshiftRequest } from './other-upgrades.ts';
import { refuseSocket } from '../http/refuse-socket.ts';

export interface WebSocketTransportParts extends HandshakeAuth {
  realtime: Realtime;
  /** Address of the protected resource metadata (RFC 9728), named in refusals. */
  metadata_url: string;
  log(message: string, error: unknown): void;
  /** Takes a connection back whose request asked for another upgrade: it is to be served as if it had asked for none. */
  onOtherUpgrade(socket: Duplex): void;
  limits?: Partial<WebSocketLimits>;
  metrics?: WebSocketMetrics;
}

/** Told how connections end. */
export interface WebSocketMetrics {
  /** One was given up because its other side does not read. */
  onSlowReader(): void;
  /** One has closed with this code: one of ours, of RFC 6455, or whatever the other side chose. */
  onClosed(code: number): void;
}

export interface WebSocketTransport {
  /** For the `upgrade` event of the HTTP server, whatever is asked for. Never throws: every failure is answered on the socket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Open connections. */
  size(): number;
  /** Refuses new connections, says 1001 to the open ones, spread over time, and cuts who does not answer; then all are gone. */
  close(): Promise<void>;
}

/** The WebSocket door (contract, section 4; RFC 6455). */
export function createWebSocketTransport(parts: WebSocketTransportParts): WebSocketTransport {
  const { realtime, metadata_url, log, metrics } = parts;
  const onSlowReader = () => metrics?.onSlowReader();
  const limits: WebSocketLimits = { ...defaultLimits, ...parts.limits };
  const connections = new Set<Connection>();
  const requestIds = new WeakMap<IncomingMessage, string>();
  let draining = false;
  let emptied: (() => void) | undefined;

  // The published types are one option behind.
  const options: ServerOptions & { closeTimeout: number } = {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: limits.frame_bytes,
    closeTimeout: limits.close_ms,
    handleProtocols: (protocols) => (protocols.has(tokenProtocol) ? tokenProtocol : false),
  };
  const server = new WebSocketServer(options);
  server.on('headers', (headers, request) => headers.push(`X-Request-Id: ${idOf(request)}`));
  server.on('wsClientError', (error, socket, request) => {
    const refusal = new DomainError(
      'VALIDATION_ERROR',
      `This is not a WebSocket handshake: ${error.message}.`,
    );
    refuseSocket(socket, refusal, idOf(request), { 'Sec-WebSocket-Version': '13' });
  });

  const heart = setInterval(
    () => {
      const now = Date.now();
      for (const connection of connections) connection.pingIfDue(now);
    },
    Math.min(1_000, limits.ping_ms / 4),
  ).unref();

  function idOf(request: IncomingMessage): string {
    const id = requestIds.get(request) ?? requestIdOf(request.headers['x-request-id']);
    requestIds.set(request, id);
    return id;
  }

  async function connect(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const asked = readHandshake(request);
    const offered = asked.token !== undefined || asked.ticket !== undefined;
    if (draining) throw stopping();
    try {
      const actor = await authenticateHandshake(parts, asked);
      let connection: Connection | undefined;
      const reader: StreamReader = {
        transport: 'ws',
        wants: (event) => connection?.wants?.(event) ?? true,
        deliver: (events) => connection?.deliver(events),
        onEnded: (reason) => connection?.onEnded(reason),
      };
      const stream = await realtime.open(actor, { cursor: asked.cursor }, reader);
      try {
        if (draining) throw stopping();
        server.handleUpgrade(request, socket, head, (ws) => {
          const served = serveConnection(ws, socket, { actor, stream, realtime, limits, log, onSlowReader });
          connection = served;
          connections.add(served);
          // A fault of the other side or of the network; ws closes the connection with the right code by itself.
          ws.on('error', () => undefined);
          ws.on('close', (code) => {
            metrics?.onClosed(code);
            connections.delete(served);
            if (connections.size === 0) emptied?.();
          });
          stream.start();
        });
      } finally {
        if (!connection) stream.close();
      }
    } catch (thrown) {
      const error = toDomainError(thrown);
      const challenge = challengeFor(error, metadata_url, offered);
      if (error.status >= 500 && !draining) log('a WebSocket could not be opened', error.cause ?? error);
      refuseSocket(socket, error, idOf(request), challenge ? { 'WWW-Authenticate': challenge } : {});
    }
  }

  return {
    upgrade(request, socket, head) {
      if (hasPendingResponse(socket)) {
        socket.destroy();
        return;
      }
      if (!isWebSocketUpgrade(request)) {
        unshiftRequest(request, socket, head);
        parts.onOtherUpgrade(socket);
        return;
      }
      // Until the upgrade nobody else listens: a reset must not become an uncaught error.
      socket.on('error', destroy);
      connect(request, socket, head).catch((error: unknown) => {
        refuseSocket(socket, toDomainError(error), idOf(request));
      });
    },
    size: () => connections.size,
    async close() {
      draining = true;
      const all = [...connections];
      const begun = Date.now();
      for (const [index, connection] of all.entries()) {
        const wait = begun + (index * limits.spread_ms) / all.length - Date.now();
        if (wait > 0 && connections.size > 0) await pause(wait);
        connection.end(closeCodes.going_away, 'this server stops; connect again with your cursor');
      }
      if (connections.size > 0) {
        const cut = setTimeout(() => {
          for (const connection of connections) connection.terminate();
        }, limits.close_wait_ms);
        await new Promise<void>((resolve) => {
          emptied = resolve;
        });
        clearTimeout(cut);
      }
      clearInterval(heart);
    },
  };
}

/** One for all sockets: a listener of its own would keep the request of a connection, with all its headers, for as long as it lives. */
function destroy(this: Duplex): void {
  this.destroy();
}

function stopping(): DomainError {
  return new DomainError('UNAVAILABLE', 'This server stops; connect again.', { retry_after: 1 });
}
