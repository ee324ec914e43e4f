import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface HttpAnswer {
  status: number;
  body: string;
}

export interface KeptConnection {
  /** Sends one request and waits for its answer; one at a time. */
  send(request: string): Promise<HttpAnswer>;
  close(): void;
}

const headEnd = '\r\n\r\n';

/**
 * One kept HTTP/1.1 connection, no more than the benchmark needs: the generator shares the processors with what it measures, and
 * a full client would take more of them than the service. Understands answers with Content-Length.
 */
export async function openConnection(base: string): Promise<KeptConnection> {
  const { hostname, port } = new URL(base);
  const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  socket.setEncoding('latin1'); // one character for each byte, as Content-Length counts
  let gathered = '';
  let waiting: { resolve(answer: HttpAnswer): void; reject(error: Error): void } | undefined;

  function fail(error: Error): void {
    waiting?.reject(error);
    waiting = undefined;
  }
  socket.on('data', (text: string) => {
    gathered += text;
    const end = gathered.indexOf(headEnd);
    if (end < 0) return;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(gathered)?.[1] ?? 0);
    const start = end + headEnd.length;
    if (gathered.length < start + length) return;
    const answer = { status: Number(gathered.slice(9, 12)), body: gathered.slice(start, start + length) };
    gathered = gathered.slice(start + length);
    waiting?.resolve(answer);
  });
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the API closed a connection')));

  return {
    send(request) {
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(request);
      });
    },
    close: () => socket.destroy(),
  };
}

/** The text of a POST that sends a message. */
export function messageRequest(request: {
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
