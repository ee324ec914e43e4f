import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';

/**
 * The least that a WebSocket server can be: what comes from one client goes to all. It runs as a process of its own, beside which
 * the service is measured, and tells its parent the port.
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
// The channel ends with the parent, however that ends.
process.once('disconnect', () => process.exit(0));
