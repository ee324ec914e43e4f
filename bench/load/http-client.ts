import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';

export interface HttpResponse {
  status: number;
  body: string;
}

export interface KeepAliveConnection {
  /** Sends one request and waits at most 15 seconds for its response; one request at a time. */
  send(request: string): Promise<HttpResponse>;
  close(): void;
}

const headerEnd = '\r\n\r\n';
/**
 * Timeout of a response, and of an idle connection. Shorter than the idle timeout of the API, because a request on a connection
 * that the API just closed gets no response.
 */
const timeoutMs = 15_000;

/**
 * A minimal HTTP/1.1 keep-alive connection. The generator shares the processors with the service, and a complete client would use
 * more CPU time than the service. Supports responses with Content-Length. The first request opens the connection; a request after
 * an idle timeout opens it again.
 */
export function openKeepAliveConnection(base: string): KeepAliveConnection {
  const { hostname, port } = new URL(base);
  let socket: Socket | undefined;
  let received = '';
  let waiting: { resolve(answer: HttpResponse): void; reject(error: Error): void } | undefined;

  /** Rejects the pending request with the reason; the next request opens a new connection. */
  function failConnection(own: Socket, reason: string): void {
    own.destroy();
    if (own !== socket) return;
    socket = undefined;
    received = '';
    waiting?.reject(new Error(reason));
    waiting = undefined;
  }
  function onData(own: Socket, text: string): void {
    received += text;
    const end = received.indexOf(headerEnd);
    if (end < 0) return;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(received)?.[1] ?? 0);
    const start = end + headerEnd.length;
    if (received.length < start + length) return;
    const answer = { status: Number(received.slice(9, 12)), body: received.slice(start, start + length) };
    const rest = received.slice(start + length);
    received = '';
    const pending = waiting;
    waiting = undefined;
    pending?.resolve(answer);
    if (!pending || rest) failConnection(own, `the API sent a response (${answer.status}) without a request`);
  }
  function open(): Socket {
    const own = connect({ host: hostname, port: Number(port), noDelay: true });
    own.setEncoding('latin1'); // one character for each byte, as Content-Length counts
    own.setTimeout(timeoutMs, () =>
      failConnection(own, `waited ${timeoutMs / 1000} s for a response of the API`),
    );
    own.on('data', (text: string) => onData(own, text));
    own.on('error', (error) => failConnection(own, `a connection to the API failed: ${error.message}`));
    own.on('end', () => failConnection(own, 'the API closed a connection before the response'));
    own.on('close', () => failConnection(own, 'a connection to the API was closed'));
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
      if (socket) failConnection(socket, 'the benchmark closed this connection');
    },
  };
}

export interface HttpRequest {
  path: string;
  token: string;
  /** Sent by POST; without it, the request is a GET. */
  body?: object;
  headers?: readonly string[];
}

/** Connections to one server: a request takes the one that was used last, or opens another one. */
export interface HttpPool {
  /** Returns the body of the response. @throws unless the status is 200 or 201. */
  request(request: HttpRequest): Promise<string>;
  /** Sends a message with its own idempotency key. */
  sendMessage(thread_id: string, token: string, content: string): Promise<string>;
  close(): void;
}

export function openHttpPool(base: string): HttpPool {
  const { host } = new URL(base);
  const all: KeepAliveConnection[] = [];
  const free: KeepAliveConnection[] = [];

  function open(): KeepAliveConnection {
    const connection = openKeepAliveConnection(base);
    all.push(connection);
    return connection;
  }
  async function request({ path, token, body, headers = [] }: HttpRequest): Promise<string> {
    const text = body === undefined ? '' : JSON.stringify(body);
    const lines = [
      `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`,
      `Host: ${host}`,
      `Authorization: Bearer ${token}`,
      ...headers,
    ];
    if (body !== undefined) {
      lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`);
    }
    const connection = free.pop() ?? open();
    const answer = await connection.send(`${lines.join('\r\n')}${headerEnd}${text}`);
    free.push(connection);
    if (answer.status === 200 || answer.status === 201) return answer.body;
    throw new Error(`${lines[0]} answered ${answer.status}: ${answer.body.slice(0, 300)}`);
  }

  return {
    request,
    sendMessage: (thread_id, token, content) =>
      request({ path: `/v1/threads/${thread_id}/messages`, token, body: { content }, headers: newKey() }),
    close() {
      for (const connection of all) connection.close();
    },
  };
}

/** The header of a new idempotency key. */
export function newKey(): string[] {
  return [`Idempotency-Key: ${randomUUID()}`];
}
