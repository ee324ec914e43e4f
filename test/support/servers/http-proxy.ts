import { once } from 'node:events';
import { createServer, request } from 'node:http';

/** What a proxy does with one request: it passes it on, answers with this status itself, or cuts the connection. */
export type ProxyAction = 'pass' | 'cut' | number;

/**
 * A way to an HTTP server that does with each request what it is told.
 * @param decide gets the method of each request.
 */
export async function startHttpProxy(target: string, decide: (method: string) => ProxyAction) {
  const { hostname, port } = new URL(target);
  const server = createServer((ask, answer) => {
    const deed = decide(ask.method ?? '');
    if (deed === 'cut') {
      ask.socket.destroy();
      return;
    }
    if (deed !== 'pass') {
      ask.resume();
      ask.on('end', () => answer.writeHead(deed).end());
      return;
    }
    const { method, url: path, headers } = ask;
    const onward = request({ hostname, port, method, path, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    ask.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
