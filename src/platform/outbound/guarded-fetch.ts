import type { lookup } from 'node:dns';
import { once } from 'node:events';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { TLSSocket } from 'node:tls';
import { webAddressProblem } from '../../shared/web-address.ts';
import { describeFailure, describeTimeout } from './failures.ts';
import {
  AddressBlocked,
  createGuardedAgent,
  createOutboundPolicy,
  findUrlProblem,
  type Network,
  parseHostAddress,
} from './policy.ts';

/** The signature of the global fetch. The body of a request is text. */
export type GuardedFetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

export interface FetchLimits {
  /** Milliseconds from the DNS lookup to the last byte. */
  timeoutMs: number;
  /** Maximum size of a response body. */
  maxBytes: number;
}

export interface GuardedClientOptions {
  /** Networks to allow besides public addresses. They can be reached over http too. */
  networks?: readonly Network[];
  /** Without it, requests name no user agent. */
  userAgent?: string;
  /** How long an idle connection is kept for the next request, in milliseconds. Without it, each request has its own connection. */
  idleMs?: number;
  /** Trusted beside the usual certificates, and another resolver; for tests. */
  ca?: string;
  lookup?: typeof lookup;
}

export interface GuardedClient {
  /** Why this URL is refused, judged by the URL alone; undefined when it is acceptable. */
  checkUrl(url: string): string | undefined;
  /** @returns a function that rejects for an address that is not allowed, a body that is too large, and on timeout. */
  createFetch(limits: FetchLimits): GuardedFetch;
  /** Closes the idle connections. */
  close(): void;
}

/** A request failed without a complete response. The message is a fixed text that reveals no internal address. */
export class RequestFailed extends Error {
  override name = 'RequestFailed';
  /** Whether the other side may have received the request. */
  readonly isSent: boolean;

  constructor(message: string, isSent: boolean, options?: ErrorOptions) {
    super(message, options);
    this.isSent = isSent;
  }
}

/** Fetches URLs that clients or other systems name. Follows no redirect, uses no proxy, and connects to allowed addresses only. */
export function createGuardedClient({
  networks = [],
  userAgent,
  idleMs,
  ca,
  lookup: resolve,
}: GuardedClientOptions): GuardedClient {
  const policy = createOutboundPolicy(networks);
  const keepAlive = idleMs === undefined ? undefined : ({ keepAlive: true, timeout: idleMs } as const);
  const agentOptions = { ...(keepAlive && { keepAlive }), ca, lookup: resolve };
  const agents = {
    'http:': createGuardedAgent(policy, 'http:', agentOptions),
    'https:': createGuardedAgent(policy, 'https:', agentOptions),
  };

  function open(
    url: URL,
    { method = 'GET', headers, body }: RequestInit,
    signal: AbortSignal,
  ): ClientRequest {
    const { protocol } = url;
    if (protocol !== 'https:' && (protocol !== 'http:' || policy.isPublicOnly)) {
      throw new RequestFailed(`Only https: addresses can be reached, not ${protocol}`, false);
    }
    if (body !== undefined && body !== null && typeof body !== 'string')
      throw new TypeError('Not a text body');
    const address = parseHostAddress(url);
    if (address !== undefined && !policy.isAllowed(address, protocol)) throw new AddressBlocked(address);
    const { request } = protocol === 'http:' ? http : https;
    const call = request(url, {
      method,
      agent: agents[protocol],
      headers: {
        ...(userAgent !== undefined && { 'user-agent': userAgent }),
        ...Object.fromEntries(new Headers(headers)),
        ...(body && { 'content-length': Buffer.byteLength(body) }),
      },
      signal,
      maxHeaderSize: 16_384,
    });
    return call.end(body ?? undefined);
  }

  function createFetch({ timeoutMs, maxBytes }: FetchLimits): GuardedFetch {
    return async function guardedFetch(input, init = {}) {
      const timeout = AbortSignal.timeout(timeoutMs);
      const signal = init.signal ? AbortSignal.any([timeout, init.signal]) : timeout;
      const call = open(new URL(input instanceof Request ? input.url : input), init, signal);
      const isSent = watchConnection(call);
      try {
        const [message] = (await once(call, 'response', { signal })) as [IncomingMessage];
        return toResponse(message, await readBody(message, maxBytes));
      } catch (error) {
        call.destroy();
        if (error instanceof AddressBlocked || init.signal?.aborted) throw error;
        if (error instanceof RequestFailed) throw error;
        const reason = timeout.aborted ? `timeout: ${describeTimeout(timeoutMs)}` : describeFailure(error);
        throw new RequestFailed(reason, isSent(), { cause: error });
      }
    };
  }

  return {
    checkUrl: (text) => findUrlProblem(policy, text, 'REMOTE_NETWORKS') ?? webAddressProblem(text),
    createFetch,
    close(): void {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

/** Fetches documents over https and from public addresses only. Sends nothing that identifies the service. */
export const createPublicFetch = (
  limits: FetchLimits & Pick<GuardedClientOptions, 'networks' | 'ca'>,
): GuardedFetch => createGuardedClient(limits).createFetch(limits);

/** Tells whether the request has had a connection. */
function watchConnection(call: ClientRequest): () => boolean {
  let isConnected = false;
  const onConnect = (): void => {
    isConnected = true;
  };
  call.once('socket', (socket) => {
    if (!socket.connecting) onConnect();
    else socket.once((socket as Partial<TLSSocket>).encrypted ? 'secureConnect' : 'connect', onConnect);
  });
  return () => isConnected;
}

async function readBody(message: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message) {
    size += chunk.length;
    if (size > maxBytes) throw new RequestFailed(`The response body has more than ${maxBytes} bytes`, true);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function toResponse({ statusCode: status = 0, headers: values }: IncomingMessage, body: Buffer): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(values)) headers.set(name, String(value));
  const isEmpty = [204, 205, 304].includes(status);
  return new Response(isEmpty ? null : new Uint8Array(body), { status, headers });
}
