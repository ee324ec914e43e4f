import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request that a webhook's receiver got. */
export interface WebhookPost {
  id: string;
  timestamp: string;
  signature: string;
  body: string;
}

/** A server for webhooks on the loopback interface, which accepts every request. */
export interface WebhookReceiver {
  /** Returns a new URL; `onPost` gets the requests to it. */
  addUrl(onPost: (post: WebhookPost) => void): string;
  close(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const receivers = new Map<string, (post: WebhookPost) => void>();
  async function receive(request: IncomingMessage): Promise<void> {
    const read = (name: string) => String(request.headers[name] ?? '');
    const [id, timestamp] = [read('webhook-id'), read('webhook-timestamp')];
    const post = { id, timestamp, signature: read('webhook-signature'), body: await text(request) };
    receivers.get(request.url ?? '')?.(post);
  }

  const server = createServer((request, response) => {
    receive(request).then(
      () => void response.writeHead(204).end(),
      () => void response.destroy(), // the worker was killed while it sent the request
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    addUrl(onPost) {
      const path = `/${receivers.size + 1}`;
      receivers.set(path, onPost);
      return `http://127.0.0.1:${port}${path}`;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
