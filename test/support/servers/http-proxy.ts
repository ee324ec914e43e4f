import { createServer, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { listen } from './listen.ts';

/**
 * What a proxy does with one request: it passes it on, answers with this status itself, cuts the connection, passes it on but cuts the
 * connection in place of the answer, or passes it on twice and returns the second answer.
 */
export type ProxyAction = 'pass' | 'cut' | 'unanswered' | 'double' | number;

/**
 * A way to an HTTP server that does with each request what it is told.
 * @param decide gets the method and the path of each request.
 */
export async function startHttpProxy(target: string, decide: (method: string, path: string) => ProxyAction) {
  const { hostname, port } = new URL(target);
  const server = createServer((ask, answer) => {
    const deed = decide(ask.method ?? '', ask.url ?? '');
    if (deed === 'cut') {
      ask.socket.destroy();
      return;
    }
    if (typeof deed === 'number') {
      ask.resume();
      ask.on('end', () => answer.writeHead(deed).end());
      return;
    }
    const { method, url: path, headers } = ask;
    function pass(body: Readable, onAnswer: (got: IncomingMessage) => void): void {
      const onward = request({ hostname, port, method, path, headers }, onAnswer);
      onward.on('error', () => answer.destroy());
      body.pipe(onward);
    }
    function passBack(got: IncomingMessage): void {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    }
    async function passFirst(): Promise<void> {
      const body = await buffer(ask);
      pass(Readable.from([body]), (got) => {
        got.resume();
        if (deed === 'unanswered') ask.socket.destroy();
        else pass(Readable.from([body]), passBack);
      });
    }
    if (deed === 'pass') pass(ask, passBack);
    else passFirst().catch(() => answer.destroy());
  });
  return listen(server);
}
