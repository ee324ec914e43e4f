import { once } from 'node:events';
import { type AgentOptions, request } from 'node:https';
import { RequestFilteringHttpsAgent, type RequestFilteringAgentOptions } from 'request-filtering-agent';

/** As the global fetch, for a GET. */
export type PublicFetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

export interface PublicFetchOptions {
  /** Milliseconds from the look-up of the name to the last byte. */
  timeoutMs: number;
  /** Bytes that a body may have. */
  maxBytes: number;
  /** For the connection; tests trust their own server with it. */
  agent?: AgentOptions & RequestFilteringAgentOptions;
}

/**
 * Reads addresses that strangers name. Only https; only servers with a public address, judged by the one that is connected to, so
 * that no name leads to where this process stands; no redirects, no proxy, no credentials; small bodies, and soon.
 * @returns rejects when any of that is not so.
 */
export function createPublicFetch({ timeoutMs, maxBytes, agent: options }: PublicFetchOptions): PublicFetch {
  const agent = new RequestFilteringHttpsAgent({ ...options, keepAlive: false });

  return async function read(address, init = {}) {
    const url = new URL(address instanceof Request ? address.url : address);
    if (url.protocol !== 'https:') throw new Error(`${url.protocol} is not read, only https:`);
    const asked = AbortSignal.timeout(timeoutMs);
    const signal = init.signal ? AbortSignal.any([asked, init.signal]) : asked;
    const headers = Object.fromEntries(new Headers(init.headers));
    const call = request(url, { agent, headers, signal, maxHeaderSize: 16_384 }).end();
    const [message] = await once(call, 'response', { signal });
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of message) {
      size += chunk.length;
      if (size > maxBytes) {
        call.destroy();
        throw new Error(`the body has more than ${maxBytes} bytes`);
      }
      chunks.push(chunk);
    }
    const answered = new Headers();
    for (const [name, value] of Object.entries(message.headers)) answered.set(name, String(value));
    const empty = [204, 205, 304].includes(message.statusCode);
    return new Response(empty ? null : Buffer.concat(chunks), {
      status: message.statusCode,
      headers: answered,
    });
  };
}
