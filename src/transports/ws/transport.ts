import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { type ServerOptions, WebSocketServer } from 'ws';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { challengeFor } from '../http/authenticate.ts';
import { toDomainError } from '../http/errors.ts';
import { hasPendingResponse } from '../http/server.ts';
import { requestIdOf } from '../http/requests/request-id.ts';
import { catalogue } from '../../operations/catalogue.ts';
import type { RateLimits } from '../../operations/rate-limits.ts';
import type { LiveEvent, Realtime, StreamEnd, StreamReader } from '../../realtime/contract.ts';
import { steadyNow } from '../../shared/clock.ts';
import { withTimeout } from '../../shared/timeout.ts';
import type { Tokens } from '../../services/auth/tokens.ts';
import type { CallParts } from './calls.ts';
import { Connection, type ConnectionParts, ServedWebSocket } from './connection.ts';
import {
  type Handshake,
  type HandshakeAuth,
  authenticateHandshake,
  readHandshake,
  tokenProtocol,
} from './handshake.ts';
import { closeCodes, defaultLimits, type WebSocketLimits } from './limits.ts';
import { isWebSocketUpgrade, unshiftRequest } from './other-upgrades.ts';
import { refuseSocket } from '../http/refuse-socket.ts';

export interface WebSocketTransportParts extends HandshakeAuth {
  realtime: Realtime;
  tokens: Pick<Tokens, 'verify' | 'confirm'>;
  /** Runs the calls of clients. */
  execute: CallParts['execute'];
  rateLimits: RateLimits;
  /** URL of the protected resource metadata (RFC 9728), for the challenge of 401 and 403 responses. */
  metadata_url: string;
  log(message: string, error: unknown): void;
  /** Gets back a connection that requested another upgrade. It is served as if it had not requested one. */
  onOtherUpgrade(socket: Duplex): void;
  limits?: Partial<WebSocketLimits>;
  metrics?: WebSocketMetrics;
}

/** Counts how connections end. */
export interface WebSocketMetrics {
  /** A connection was closed because the client does not read. */
  onSlowReader(): void;
  /** A connection has closed with this code: one of `closeCodes`, of RFC 6455, or any that the client sent. */
  onClosed(code: number): void;
}

export interface WebSocketTransport {
  /** Handles every `upgrade` event of the HTTP server. Never throws: errors are sent on the socket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Open connections. */
  size(): number;
  /** Rejects new connections and closes the open ones with 1001, spread over `spread_ms`. Resolves when all are closed. */
  close(): Promise<void>;
}

/** The reader of a stream that is opened before its connection exists. The stream calls it only after its start. */
class ConnectionReader implements StreamReader {
  readonly transport = 'ws';
  connection: Connection | undefined;

  wants(event: LiveEvent): boolean {
    return this.connection?.wants(event) ?? true;
  }

  deliver(events: readonly LiveEvent[]): Promise<void> | undefined {
    return this.connection?.deliver(events);
  }

  onEnded(reason: StreamEnd): void {
    this.connection?.onEnded(reason);
  }
}

/** As for the feed of one agent. */
const maxPendingShown = 100;

interface ConnectionSet {
  readonly all: ReadonlySet<Connection>;
  add(connection: Connection): void;
  remove(connection: Connection): void;
  /** Resolves when the last connection is removed. */
  emptied(): Promise<void>;
}

/** The WebSocket transport (RFC 6455). */
export function createWebSocketTransport(parts: WebSocketTransportParts): WebSocketTransport {
  const { realtime, log, metrics } = parts;
  const limits: WebSocketLimits = { ...defaultLimits, ...parts.limits };
  const connections = createConnectionSet();
  const idOf = createRequestIds();
  const server = createServer(limits, idOf);
  const calls = createCallParts(parts);
  const shared: ConnectionParts = {
    realtime,
    limits,
    calls,
    log,
    onSlowReader: () => metrics?.onSlowReader(),
    onClosed(connection, code) {
      metrics?.onClosed(code);
      connections.remove(connection);
    },
  };
  let isDraining = false;

  const pingTimer = startPings(connections.all, limits.ping_ms);

  /** Opens the stream before the upgrade, so that errors get an HTTP status. The connection exists only after the upgrade. */
  async function open(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const handshake = readHandshake(request);
    const hasCredentials = handshake.token !== undefined || handshake.ticket !== undefined;
    if (isDraining) throw shuttingDown();
    try {
      const actor = await authenticateHandshake(parts, handshake);
      await parts.rateLimits.consume('websocket', actor.agent_id);
      const reader = new ConnectionReader();
      const { cursor, watch } = handshake;
      const { stream, pending } = await openStream(realtime, actor, { cursor, watch }, reader);
      try {
        if (isDraining) throw shuttingDown();
        server.handleUpgrade(request, socket, head, (ws) => {
          // From here on the listener of ws is sufficient.
          socket.off('error', destroy);
          reader.connection = new Connection(shared, { ws, socket, actor, stream, pending });
          connections.add(reader.connection);
          stream.start();
        });
      } finally {
        if (!reader.connection) stream.close();
      }
    } catch (thrown) {
      const error = toDomainError(thrown);
      const challenge = challengeFor(error, parts.metadata_url, hasCredentials);
      if (error.status >= 500 && !isDraining) log('cannot open a WebSocket', error.cause ?? error);
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
      // Until the upgrade there is no other listener: a connection reset must not become an uncaught error.
      socket.on('error', destroy);
      open(request, socket, head).catch((error: unknown) => {
        refuseSocket(socket, toDomainError(error), idOf(request));
      });
    },
    size: () => connections.all.size,
    async close() {
      isDraining = true;
      await finishCalls(connections.all, calls.running, limits.close_wait_ms);
      await closeAll(connections, limits);
      clearInterval(pingTimer);
    },
  };
}

/** Opens the stream of an agent or of its owner, with the number of events that wait. */
async function openStream(
  realtime: Realtime,
  actor: Actor,
  { cursor, watch }: Pick<Handshake, 'cursor' | 'watch'>,
  reader: StreamReader,
) {
  if (watch === 'owner') {
    const stream = await realtime.ofOwner.open(actor, { cursor }, reader);
    const isMore = stream.pending_events > maxPendingShown;
    const pending_events = Math.min(stream.pending_events, maxPendingShown);
    return { stream, pending: { pending_events, ...(isMore && { pending_events_more: true as const }) } };
  }
  const stream = await realtime.open(actor, { cursor }, reader);
  try {
    const { cursor: _end, ...pending } = await realtime.feedStatus(actor);
    return { stream, pending };
  } catch (error) {
    stream.close();
    throw error;
  }
}

function createCallParts({ execute, tokens, realtime, log }: WebSocketTransportParts): CallParts {
  return {
    execute,
    operations: new Map(catalogue.map((operation) => [operation.name, operation])),
    confirm: (tokenId) => tokens.confirm(tokenId, 'ws'),
    running: new Set(),
    onReplySent: (actor, { thread_id, sequence, sender }) =>
      realtime.markDelivered(actor, [{ message: { thread_id, sequence, sender_id: sender.id } }]),
    log,
  };
}

function startPings(connections: ReadonlySet<Connection>, pingMs: number): NodeJS.Timeout {
  return setInterval(
    () => {
      const now = steadyNow();
      for (const connection of connections) connection.pingIfDue(now);
    },
    Math.min(1_000, pingMs / 4),
  ).unref();
}

function createServer(limits: WebSocketLimits, idOf: (request: IncomingMessage) => string) {
  // @types/ws lacks closeTimeout.
  const options: ServerOptions<typeof ServedWebSocket> & { closeTimeout: number } = {
    WebSocket: ServedWebSocket,
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
    const invalid = new DomainError('VALIDATION_ERROR', `Invalid WebSocket handshake: ${error.message}.`);
    refuseSocket(socket, invalid, idOf(request), { 'Sec-WebSocket-Version': '13' });
  });
  return server;
}

/** Returns a function that returns the same id for the same request. */
function createRequestIds(): (request: IncomingMessage) => string {
  const ids = new WeakMap<IncomingMessage, string>();
  return (request) => {
    const id = ids.get(request) ?? requestIdOf(request.headers['x-request-id']);
    ids.set(request, id);
    return id;
  };
}

function createConnectionSet(): ConnectionSet {
  const connections = new Set<Connection>();
  let onEmptied: (() => void) | undefined;
  return {
    all: connections,
    add: (connection) => void connections.add(connection),
    remove(connection) {
      connections.delete(connection);
      if (connections.size === 0) onEmptied?.();
    },
    emptied: () =>
      new Promise((resolve) => {
        onEmptied = resolve;
      }),
  };
}

/** Ends the waits of calls, and waits up to `timeoutMs` for the results. */
async function finishCalls(
  connections: Iterable<Connection>,
  running: CallParts['running'],
  timeoutMs: number,
): Promise<void> {
  for (const connection of connections) connection.stopCalls();
  await withTimeout(timeoutMs, Promise.all(running), () => undefined);
}

/** Closes the connections, spread over `spread_ms`, and cuts those that do not answer within `close_wait_ms`. */
async function closeAll(connections: ConnectionSet, limits: WebSocketLimits): Promise<void> {
  const open = [...connections.all];
  const startedAt = steadyNow();
  for (const [index, connection] of open.entries()) {
    const waitMs = startedAt + (index * limits.spread_ms) / open.length - steadyNow();
    if (waitMs > 0 && connections.all.size > 0) await pause(waitMs);
    connection.end(closeCodes.going_away, 'The server is shutting down. Reconnect with your cursor.');
  }
  if (connections.all.size === 0) return;
  const cut = setTimeout(() => {
    for (const connection of connections.all) connection.terminate();
  }, limits.close_wait_ms);
  await connections.emptied();
  clearTimeout(cut);
}

/** One function for all sockets: a closure would keep the request and its headers in memory as long as the connection. */
function destroy(this: Duplex): void {
  this.destroy();
}

function shuttingDown(): DomainError {
  return new DomainError('UNAVAILABLE', 'The server is shutting down. Reconnect.', { retry_after: 1 });
}
