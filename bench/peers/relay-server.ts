import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

export interface RelayServer {
  port: number;
  close(): void;
}

/** A frame of a client. */
interface ClientFrame {
  /** The name of the receiver; absent: everyone in the group. */
  to?: string;
  id: number;
  content: string;
}

/**
 * The least that a relay does: it takes the name of a client from the bearer token without checking it, passes each message on as JSON,
 * and confirms it. It stores nothing, so what a client misses is lost.
 */
export async function startRelayServer(): Promise<RelayServer> {
  const address = { port: 0, host: '127.0.0.1', backlog: 2048 };
  const sockets = new WebSocketServer({ ...address, perMessageDeflate: false });
  const byName = new Map<string, WebSocket>();
  const group = new Set<WebSocket>();

  sockets.on('connection', (socket, request) => {
    const name = (request.headers.authorization ?? '').replace('Bearer ', '');
    byName.set(name, socket);
    if (request.url === '/group') group.add(socket);
    socket.on('error', () => socket.terminate());
    socket.on('message', (data: Buffer) => {
      const { to, id, content } = JSON.parse(data.toString()) as ClientFrame;
      const text = JSON.stringify({ type: 'message', from: name, content });
      const receivers = to === undefined ? [...group] : [byName.get(to)];
      for (const receiver of receivers) receiver?.send(text);
      socket.send(JSON.stringify({ type: 'taken', id }));
    });
    socket.on('close', () => {
      group.delete(socket);
      if (byName.get(name) === socket) byName.delete(name);
    });
    socket.send('{"type":"ready"}');
  });

  await once(sockets, 'listening');
  return {
    port: (sockets.address() as AddressInfo).port,
    close() {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
    },
  };
}
