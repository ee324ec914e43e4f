import { createServer } from 'node:http';
import { listen } from '../../support/servers/listen.ts';

/** Where a client waits for the browser to come back: a server on any port of the loopback interface (RFC 8252, section 7.3). */
export async function startCallbackListener() {
  const arrivals: URL[] = [];
  let wake = () => {};
  const server = createServer((request, response) => {
    arrivals.push(new URL(request.url ?? '/', 'http://127.0.0.1'));
    response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Back at the client</title>');
    wake();
  });
  const listening = await listen(server);
  return {
    ...listening,
    url: `${listening.url}/callback`,
    /** The next address of `/callback` that the browser was sent to. */
    async next(): Promise<URL> {
      for (;;) {
        const found = arrivals.shift();
        if (found?.pathname === '/callback') return found;
        if (!found) await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

export type CallbackListener = Awaited<ReturnType<typeof startCallbackListener>>;
