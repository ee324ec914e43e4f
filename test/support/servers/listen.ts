import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

/** Starts a server on a free port, by default of the loopback interface. `close` also ends the connections of HTTP. */
export async function listen(server: Server, address = '127.0.0.1') {
  server.listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  return {
    port,
    host,
    url: `http://${host}`,
    async close(): Promise<void> {
      if ('closeAllConnections' in server) (server as unknown as HttpServer).closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
