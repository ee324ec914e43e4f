import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** Headers that only concern an upgrade (RFC 9110, section 7.8; RFC 7540, section 3.2.1). */
const upgradeHeaders = new Set(['upgrade', 'http2-settings']);

/** Whether a request with an Upgrade header asks for a WebSocket. */
export function isWebSocketUpgrade({ headers }: IncomingMessage): boolean {
  return namesOf(headers.upgrade ?? '').some((name) => name.toLowerCase() === 'websocket');
}

/**
 * Puts a request back in front of its connection as if it had asked for no upgrade: an upgrade that the server does not know is
 * to be ignored (RFC 9110, section 7.8). `rest` is what came behind the head. The HTTP server can take the connection anew.
 */
export function unshiftRequest(request: IncomingMessage, socket: Duplex, rest: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const kept = name.toLowerCase() === 'connection' ? withoutUpgrade(value) : value;
    if (kept !== undefined && !upgradeHeaders.has(name.toLowerCase())) lines.push(`${name}: ${kept}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), rest]));
}

/** A Connection header without what concerns the upgrade; undefined when nothing is left of it. */
function withoutUpgrade(value: string): string | undefined {
  const kept = namesOf(value).filter((name) => !upgradeHeaders.has(name.toLowerCase()));
  return kept.length > 0 ? kept.join(', ') : undefined;
}

function namesOf(list: string): string[] {
  return list.split(',').map((name) => name.trim());
}
