import { once } from 'node:events';
import { request } from 'node:https';
import {
  AddressBlocked,
  createGuardedAgent,
  createOutboundPolicy,
  type Network,
  parseHostAddress,
} from './policy.ts';

/** The signature of the global fetch, for GET only. */
export type PublicFetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

export interface PublicFetchOptions {
  /** Milliseconds from the DNS lookup to the last byte. */
  timeoutMs: number;
  /** Maximum size of a response body. */
  maxBytes: number;
  /** Networks to allow and certificates to trust beside the public ones; for tests. */
  networks?: readonly Network[];
  ca?: string;
}

/**
 * Fetches URLs that clients name, over https and from public addresses only. Follows no redirect, uses no proxy, sends no credentials.
 * @returns a function that rejects for any other URL, a body that is too large, and on timeout.
 */
export function createPublicFetch({
  timeoutMs,
  maxBytes,
  networks = [],
  ca,
}: PublicFetchOptions): PublicFetch {
  const policy = createOutboundPolicy(networks);
  const agent = createGuardedAgent(policy, 'https:', { ca });

  return async function publicFetch(input, init = {}) {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.protocol !== 'https:') throw new Error(`Only https: URLs can be fetched, not ${url.protocol}`);
    const address = parseHostAddress(url);
    if (address !== undefined && !policy.isAllowed(address, url.protocol)) throw new AddressBlocked(address);
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = init.signal ? AbortSignal.any([timeout, init.signal]) : timeout;
    const headers = Object.fromEntries(new Headers(init.headers));
    const call = request(url, { agent, headers, signal, maxHeaderSize: 16_384 }).end();
    const [message] = await once(call, 'response', { signal });
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of message) {
      size += chunk.length;
      if (size > maxBytes) {
        call.destroy();
        throw new Error(`The response body has more than ${maxBytes} bytes`);
      }
      chunks.push(chunk);
    }
    const responseHeaders = new Headers();
    for (const [name, value] of Object.entries(message.headers)) responseHeaders.set(name, String(value));
    const isEmpty = [204, 205, 304].includes(message.statusCode);
    return new Response(isEmpty ? null : Buffer.concat(chunks), {
      status: message.statusCode,
      headers: responseHeaders,
    });
  };
}
