import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { SignInError } from './errors.ts';

/** Where the browser comes back to after a sign-in: a page of this machine only (RFC 8252, section 7.3). */
export interface RedirectServer {
  url: string;
  /**
   * The code that a browser brings together with `state`. Others are turned away, and it goes on waiting.
   * @throws {SignInError} when the person said no, or nobody came in time; the reason of `signal`.
   */
  waitForCode(
    expected: { state: string; issuer(): string | undefined },
    signal: AbortSignal,
  ): Promise<string>;
  close(): void;
}

const path = '/callback';
const signInTimeoutMs = 5 * 60_000;

export async function openRedirectServer(): Promise<RedirectServer> {
  let arrive: (query: URLSearchParams) => boolean = () => false;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const isGood = request.method === 'GET' && url.pathname === path && arrive(url.searchParams);
    showPage(request, response, isGood ? 200 : 404);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  function arrival(state: string, issuer: () => string | undefined): Promise<string> {
    return new Promise((resolve, reject) => {
      arrive = (query) => {
        if (query.get('state') !== state) return false;
        // RFC 9207: an answer of another authorization server than the one that was asked.
        const from = query.get('iss');
        if (from !== null && from !== issuer()) return false;
        const code = query.get('code');
        if (code !== null) resolve(code);
        else reject(new SignInError(`Nobody was signed in: ${refusalReason(query)}.`));
        return true;
      };
    });
  }

  return {
    url: `http://127.0.0.1:${port}${path}`,
    async waitForCode({ state, issuer }, signal) {
      const over = new AbortController();
      const late = pause(signInTimeoutMs, undefined, { signal: AbortSignal.any([signal, over.signal]) }).then(
        () => {
          throw new SignInError('Nobody signed in within five minutes.');
        },
      );
      try {
        return await Promise.race([arrival(state, issuer), late]);
      } finally {
        over.abort();
        late.catch(() => 'it is too late for that');
      }
    },
    close() {
      server.close();
      server.closeIdleConnections();
    },
  };
}

function refusalReason(query: URLSearchParams): string {
  if (query.get('error') === 'access_denied') return 'the person said no';
  const words = query.get('error_description') ?? query.get('error') ?? 'the service gave no reason';
  return words.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 200);
}

function showPage(request: IncomingMessage, response: ServerResponse, status: 200 | 404): void {
  request.resume();
  const words =
    status === 200
      ? 'Done. You can close this window and go back to your program.'
      : 'This page has nothing to show.';
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': "default-src 'none'",
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    Connection: 'close',
  });
  response.end(`<!doctype html><html lang="en"><title>Agent messaging</title><p>${words}</p></html>\n`);
}
