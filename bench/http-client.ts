import { connect, type Socket } from 'node:net';

export interface HttpResponse {
  status: number;
  body: string;
}

export interface KeepAliveConnection {
  /** Sends one request and waits for its answer, at most 15 seconds; one at a time. */
  send(request: string): Promise<HttpResponse>;
  close(): void;
}

const headerEnd = '\r\n\r\n';
/**
 * For an answer, and between two requests. Shorter than the API waits for either: it may close a connection that lies idle or that
 * has never sent anything, and a request written into a closed one is never answered.
 */
const timeoutMs = 15_000;

/**
 * One kept HTTP/1.1 connection, no more than the benchmark needs: the generator shares the processors with what it measures, and
 * a full client would take more of them than the service. Understands answers with Content-Length. It is opened by the first
 * request, and again by the first one after it lay idle.
 */
export function openKeepAliveConnection(base: string): KeepAliveConnection {
  const { hostname, port } = new URL(base);
  let socket: Socket | undefined;
  let gathered = '';
  let waiting: { resolve(answer: HttpResponse): void; reject(error: Error): void } | undefined;

  /** Whoever waits on this connection learns why it ends; the next request opens another. */
  function giveUp(own: Socket, reason: string): void {
    own.destroy();
    if (own !== socket) return;
    socket = undefined;
    gathered = '';
    waiting?.reject(new Error(reason));
    waiting = undefined;
  }
  function take(own: Socket, text: string): void {
    gathered += text;
    const end = gathered.indexOf(headerEnd);
    if (end < 0) return;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(gathered)?.[1] ?? 0);
    const start = end + headerEnd.length;
    if (gathered.length < start + length) return;
    const answer = { status: Number(gathered.slice(9, 12)), body: gathered.slice(start, start + length) };
    const rest = gathered.slice(start + length);
    gathered = '';
    const asked = waiting;
    waiting = undefined;
    asked?.resolve(answer);
    if (!asked || rest) giveUp(own, `the API answered ${answer.status} unasked`);
  }
  function open(): Socket {
    const own = connect({ host: hostname, port: Number(port), noDelay: true });
    own.setEncoding('latin1'); // one character for each byte, as Content-Length counts
    own.setTimeout(timeoutMs, () => giveUp(own, `waited ${timeoutMs / 1000} s for an answer of the API`));
    own.on('data', (text: string) => take(own, text));
    own.on('error', (error) => giveUp(own, `a connection to the API failed: ${error.message}`));
    own.on('end', () => giveUp(own, 'the API closed a connection before its answer'));
    own.on('close', () => giveUp(own, 'a connection to the API was closed'));
    return own;
  }

  return {
    send(request) {
      return new Promise((resolve, reject) => {
        if (waiting) throw new Error('a connection takes one request at a time');
        waiting = { resolve, reject };
        socket ??= open();
        socket.write(request);
      });
    },
    close() {
      if (socket) giveUp(socket, 'the benchmark closed this connection');
    },
  };
}

/** The text of a POST that sends a message. */
export function buildMessageRequest(request: {
  base: string;
  thread_id: string;
  token: string;
  key: string;
  content: string;
}): string {
  const body = JSON.stringify({ content: request.content });
  return [
    `POST /v1/threads/${request.thread_id}/messages HTTP/1.1`,
    `Host: ${new URL(request.base).host}`,
    `Authorization: Bearer ${request.token}`,
    `Idempotency-Key: ${request.key}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}

/** The text of a GET. */
export function buildGetRequest(request: { base: string; path: string; token: string }): string {
  const host = `Host: ${new URL(request.base).host}`;
  return [`GET ${request.path} HTTP/1.1`, host, `Authorization: Bearer ${request.token}`, '', ''].join(
    '\r\n',
  );
}
