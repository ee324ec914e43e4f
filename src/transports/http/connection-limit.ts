import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { refuseSocket } from './refuse-socket.ts';
import { requestIdOf } from './requests/request-id.ts';

type HandleUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** How often the log mentions refused connections, in milliseconds. */
const warnEveryMs = 60_000;

/** The limit of open files of this process, which Node raises to the hard limit at its start. Infinity if the system states none. */
function readFileLimit(): number {
  if (process.platform !== 'linux') return Number.POSITIVE_INFINITY;
  const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
}

/**
 * Keeps files free for the process itself: without it, idle WebSockets take those of lost database connections, and the process
 * stays without a database. WebSockets are refused with 503 first. Half of the free files then serve other calls, among them checks
 * of readiness; after that, new connections are closed.
 * @param reserved the files that the process needs besides the connections of clients; at most a quarter of the limit is kept for it
 * @param warn is called at most once a minute
 * @returns the listener for upgrades
 */
export function limitConnections(
  server: Server,
  reserved: number,
  warn: (message: string) => void,
  upgrade: HandleUpgrade,
): HandleUpgrade {
  const files = readFileLimit();
  if (!Number.isFinite(files)) return upgrade;
  const free = Math.min(reserved, Math.floor(files / 4));
  const maxSockets = files - free;
  server.maxConnections = files - Math.ceil(free / 2);
  let connections = 0;
  let warnedAt = Number.NEGATIVE_INFINITY;

  function onFull(): void {
    if (performance.now() - warnedAt < warnEveryMs) return;
    warnedAt = performance.now();
    warn(
      `refuses WebSockets: ${connections} connections, and the process may open ${files} files; raise its limit (ulimit -n), or start another API process`,
    );
  }
  // One function for all sockets: a closure would take memory for each idle one.
  const onClose = () => void (connections -= 1);
  server.on('connection', (socket) => {
    // Another upgrade than to a WebSocket brings the connection back.
    if (socket.listeners('close').includes(onClose)) return;
    connections += 1;
    socket.on('close', onClose);
  });
  server.on('drop', onFull);
  return (request, socket, head) => {
    if (connections <= maxSockets) return upgrade(request, socket, head);
    onFull();
    const error = new DomainError('UNAVAILABLE', 'Too many connections. Reconnect.', { retry_after: 1 });
    return refuseSocket(socket, error, requestIdOf(request.headers['x-request-id']));
  };
}
