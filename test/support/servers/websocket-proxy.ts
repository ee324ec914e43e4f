import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { listen } from './listen.ts';

/**
 * A proxy to an API that passes on every request, and the frames of every WebSocket.
 * @param change gets each frame of the API and returns the frame for the client.
 */
export async function startWebSocketProxy(target: string, change: (frame: string) => string) {
  const { hostname, port } = new URL(target);
  const clients = new WebSocketServer({ noServer: true });

  function pass(incoming: IncomingMessage, answer: ServerResponse): void {
    const { method, url: path, headers } = incoming;
    const outgoing = request({ hostname, port, method, path, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
      response.on('error', () => answer.destroy());
    });
    outgoing.on('error', () => answer.destroy());
    answer.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  }

  const server = createServer(pass);
  server.on('upgrade', (incoming: IncomingMessage, socket, head: Buffer) => {
    const authorization = incoming.headers.authorization ?? '';
    const api = new WebSocket(`ws://${hostname}:${port}${incoming.url}`, {
      headers: { Authorization: authorization },
    });
    api.on('error', () => socket.destroy()); // also when the API refuses the handshake
    api.once('open', () => {
      clients.handleUpgrade(incoming, socket, head, (client) => {
        api.on('message', (frame: Buffer) => client.send(change(frame.toString())));
        client.on('message', (frame: Buffer) => api.send(frame.toString()));
        api.on('close', () => client.terminate());
        client.on('close', () => api.terminate());
        client.on('error', () => client.terminate());
      });
    });
  });
  const { url, close } = await listen(server);
  return {
    url,
    async close() {
      for (const client of clients.clients) client.terminate();
      await close();
    },
  };
}
