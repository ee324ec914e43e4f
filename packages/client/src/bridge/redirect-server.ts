import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { SignInError } from './errors.ts';

/** The local page to which the browser is redirected after a sign-in (RFC 8252, section 7.3). */
export interface RedirectServer {
  url: string;
  /**
   * Returns the code of the redirect with this state. Other requests get 404.
   * @throws {SignInError} if the person declined, or after five minutes; the reason of `signal`
   */
  waitForCode(
    expected: { state: string; issuer(): string | undefined },
    signal: AbortSignal,
  ): Promise<string>;
  close(): void;
}

const path = '/callback';
const signInTimeoutMs = 5 * 60_000;

/** Opens the redirect server on a free port of the loopback interface. */
export async function openRedirectServer(): Promise<RedirectServer> {
  let onRedirect: (query: URLSearchParams) => boolean = () => false;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const isAccepted = request.method === 'GET' && url.pathname === path && onRedirect(url.searchParams);
    sendPage(request, response, isAccepted ? 200 : 404);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  function waitForRedirect(state: string, issuer: () => string | undefined): Promise<string> {
    return new Promise((resolve, reject) => {
      onRedirect = (query) => {
        if (query.get('state') !== state) return false;
        // RFC 9207: reject the response of another authorization server.
        const from = query.get('iss');
        if (from !== null && from !== issuer()) return false;
        const code = query.get('code');
        if (code !== null) resolve(code);
        else reject(new SignInError(`The sign-in failed: ${failureReason(query)}.`));
        return true;
      };
    });
  }

  return {
    url: `http://127.0.0.1:${port}${path}`,
    async waitForCode({ state, issuer }, signal) {
      const finished = new AbortController();
      const stop = AbortSignal.any([signal, finished.signal]);
      const timeout = pause(signInTimeoutMs, undefined, { signal: stop }).then(() => {
        throw new SignInError('The sign-in was not completed within five minutes.');
      });
      try {
        return await Promise.race([waitForRedirect(state, issuer), timeout]);
      } finally {
        finished.abort();
        timeout.catch(() => undefined); // aborted above
      }
    },
    close() {
      server.close();
      server.closeIdleConnections();
    },
  };
}

function failureReason(query: URLSearchParams): string {
  if (query.get('error') === 'access_denied') return 'access was denied';
  const text = query.get('error_description') ?? query.get('error') ?? 'the service gave no reason';
  return text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 200);
}

function sendPage(request: IncomingMessage, response: ServerResponse, status: 200 | 404): void {
  request.resume();
  const text =
    status === 200
      ? 'You are signed in. You can close this window and return to your program.'
      : 'This link is invalid or was already used.';
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': "default-src 'none'",
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    Connection: 'close',
  });
  response.end(`<!doctype html><html lang="en"><title>Agent messaging</title><p>${text}</p></html>\n`);
}
