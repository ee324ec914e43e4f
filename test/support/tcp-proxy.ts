import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  /** The address given, by way of the proxy. */
  url: string;
  /** Ends all connections and refuses new ones, as when the server is away. */
  cut(): Promise<void>;
  /** Takes connections again, on the same port. */
  restore(): Promise<void>;
  /** Keeps the connections and carries nothing, as when the network swallows everything, until `cut`. */
  freeze(): void;
  close(): Promise<void>;
}

/** A way to a server that a test can interrupt, while the server goes on for the other tests. */
export async function tcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port, protocol } = new URL(target);
  const defaultPort = protocol.startsWith('redis') ? 6379 : 5432;
  const sockets = new Set<Socket>();
  let frozen = false;

  function keep(socket: Socket): void {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  }

  const server = createServer((near) => {
    const far = connect(Number(port || defaultPort), hostname);
    keep(near);
    keep(far);
    near.on('data', (data) => frozen || far.write(data));
    far.on('data', (data) => frozen || near.write(data));
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(address.port);

  async function cut(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
    frozen = false;
  }

  return {
    url: url.href,
    cut,
    async restore() {
      server.listen(address.port, '127.0.0.1');
      await once(server, 'listening');
    },
    freeze() {
      frozen = true;
    },
    close: cut,
  };
}
