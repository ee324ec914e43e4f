import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { WebhookPost } from './history.ts';

/** A server for webhooks on the loopback interface, which accepts every request. */
export interface WebhookReceiver {
  /** Returns a new URL; `onPost` gets the requests to it. */
  addUrl(onPost: (post: WebhookPost) => void): string;
  close(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const receivers = new Map<string, (post: WebhookPost) => void>();
  const server = createServer((request, response) => {
    const read = (name: string) => String(request.headers[name] ?? '');
    text(request).then(
      (body) => {
        const [id, timestamp, signature] = [
          read('webhook-id'),
          read('webhook-timestamp'),
          read('webhook-signature'),
        ];
        receivers.get(request.url ?? '')?.({ id, timestamp, signature, body });
        response.writeHead(204).end();
      },
      () => response.destroy(), // the worker was killed while it sent the request
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
