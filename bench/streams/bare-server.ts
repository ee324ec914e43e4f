import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';

/**
 * A minimal WebSocket server to compare the service with: it sends each message to all clients. It runs in its own process and sends
 * its port to the parent.
 */
const server = createServer();
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on('connection', (ws) => {
  ws.on('error', () => ws.terminate());
  ws.on('message', (data: Buffer) => {
    const text = data.toString();
    for (const client of sockets.clients) if (client.readyState === WebSocket.OPEN) client.send(text);
  });
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 2048 }, () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ port });
});
process.once('SIGTERM', () => process.exit(0));
// The IPC channel closes when the parent exits for any reason.
process.once('disconnect', () => process.exit(0));
