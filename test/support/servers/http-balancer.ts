import { type ClientRequest, createServer, request } from 'node:http';
import { listen } from './listen.ts';

/**
 * Hands each HTTP request to the next server in turn, as a balancer without affinity; connections mean nothing to it.
 * @param targets looked at for each request, so that the servers may learn their public address from the balancer.
 * @param headers put on every request that has none of that name.
 */
export async function startHttpBalancer(
  targets: () => readonly string[],
  headers: Record<string, string> = {},
) {
  const served = new Map<string, number>();
  const under_way = new Set<ClientRequest>();
  let turn = 0;
  const server = createServer((ask, answer) => {
    const all = targets();
    const target = all[(turn += 1) % all.length];
    if (target === undefined) {
      answer.writeHead(503).end();
      return;
    }
    served.set(target, (served.get(target) ?? 0) + 1);
    const { hostname, port } = new URL(target);
    const { method, url: path } = ask;
    const onward = request(
      { hostname, port, method, path, headers: { ...headers, ...ask.headers } },
      (got) => {
        answer.writeHead(got.statusCode ?? 502, got.headers);
        answer.flushHeaders();
        got.on('error', () => answer.destroy());
        got.pipe(answer);
      },
    );
    under_way.add(onward);
    onward.on('close', () => under_way.delete(onward));
    onward.on('error', () => answer.destroy());
    // A caller that goes away is gone for the server too.
    answer.on('close', () => onward.destroy());
    ask.pipe(onward);
  });
  // Longer than any pause between two requests: a client that reuses a connection as it is closed fails.
  server.keepAliveTimeout = 120_000;
  const { port, close } = await listen(server);
  return {
    url: `http://localhost:${port}`,
    /** How many requests each server got, in their order. */
    served: () => targets().map((target) => served.get(target) ?? 0),
    async close() {
      for (const onward of under_way) onward.destroy();
      await close();
    },
  };
}
