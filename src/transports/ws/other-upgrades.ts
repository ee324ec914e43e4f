import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** Headers of an upgrade (RFC 9110, section 7.8; RFC 7540, section 3.2.1). */
const upgradeHeaders = new Set(['upgrade', 'http2-settings']);

/** Whether a request with an Upgrade header asks for a WebSocket. */
export function isWebSocketUpgrade({ headers }: IncomingMessage): boolean {
  return namesOf(headers.upgrade ?? '').some((name) => name.toLowerCase() === 'websocket');
}

/**
 * Whether an earlier request of the connection has no response yet. Node then neither keeps responses in order nor supports a
 * second server on the connection. This internal field is the only place that shows it.
 */
export function hasPendingResponse(socket: Duplex): boolean {
  return Boolean(Reflect.get(socket, '_httpMessage'));
}

/**
 * Puts a request back onto its socket without its upgrade headers, for the HTTP server to read again: unknown upgrades are
 * ignored (RFC 9110, section 7.8).
 * @param rest the bytes after the headers.
 */
export function unshiftRequest(request: IncomingMessage, socket: Duplex, rest: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
    const kept = name.toLowerCase() === 'connection' ? withoutUpgrade(value) : value;
    if (kept !== undefined && !upgradeHeaders.has(name.toLowerCase())) lines.push(`${name}: ${kept}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), rest]));
}

/** A Connection header without the upgrade options; undefined when none is left. */
function withoutUpgrade(value: string): string | undefined {
  const kept = namesOf(value).filter((name) => !upgradeHeaders.has(name.toLowerCase()));
  return kept.length > 0 ? kept.join(', ') : undefined;
}

function namesOf(list: string): string[] {
  return list.split(',').map((name) => name.trim());
}
