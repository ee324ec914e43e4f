import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.ts';

/**
 * A TCP proxy that resets each connection after a random number of bytes from the server: before, within or after a response.
 * @param maxBytes the number is below it.
 */
export async function startCuttingProxy(target: string, maxBytes: number) {
  const { hostname, port } = new URL(target);
  const clients = new Set<Socket>();
  let cuts = 0;
  let isCutting = true;

  const proxy = createServer({ noDelay: true }, (client) => {
    let left = Math.floor(Math.random() * maxBytes);
    const server = connect(Number(port), hostname);
    clients.add(client);
    server.on('data', (data) => {
      if (!isCutting || data.length < left) {
        left -= data.length;
        client.write(data);
        return;
      }
      cuts += 1;
      client.write(data.subarray(0, left), () => client.resetAndDestroy());
      server.destroy();
    });
    client.on('data', (data) => server.write(data));
    client.on('close', () => {
      clients.delete(client);
      server.destroy();
    });
    server.on('close', () => client.end());
    for (const socket of [client, server]) socket.on('error', () => socket.destroy());
  });
  return {
    ...(await listen(proxy)),
    /** The number of connections that were reset. */
    cuts: () => cuts,
    /** From here on connections stay. */
    stopCutting() {
      isCutting = false;
    },
    async close() {
      proxy.close();
      for (const client of clients) client.destroy();
      await once(proxy, 'close');
    },
  };
}
