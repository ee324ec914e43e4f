import type { lookup } from 'node:dns';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { getErrorCode } from '../../shared/narrow.ts';
import { addressBlocked, describeFailure, describeTimeout, isTlsFailure } from './failures.ts';
import { createGuardedAgent, createOutboundPolicy, findUrlProblem, type Network } from './policy.ts';
import { webAddressProblem } from '../../shared/web-address.ts';

export interface WebhookSenderOptions {
  /** Networks to allow besides public addresses. They can be reached over http too. */
  networks: readonly Network[];
  /** Milliseconds for one request, from the DNS lookup to the response headers. */
  timeoutMs: number;
  userAgent: string;
  /** Trusted beside the usual certificates, and another resolver; for tests. */
  ca?: string;
  lookup?: typeof lookup;
}

interface OutboundRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

interface OutboundAnswer {
  status: number | null;
  error: string | null;
  response?: string;
  retryAfterMs?: number;
  failure?: 'connection_refused' | 'timeout' | 'tls_error';
}

type OutboundResponse = OutboundAnswer & { duration_ms: number };

/** Receives the body of a response, at most `maxResponseBytes` of it. */
type OnBody = (body: string) => void;

/** Reads a short response body even if it is not used, so that the connection can be reused. A longer body closes the connection. */
const maxResponseBytes = 1_024;
/** Most receivers close idle connections after a longer time than this. */
const idleTimeoutMs = 20_000;
const keepAlive = {
  keepAlive: true,
  maxFreeSockets: 256,
  timeout: idleTimeoutMs,
  scheduling: 'lifo',
} as const;

/**
 * Sends POST requests to URLs that clients name. Follows no redirect, uses no proxy, and returns only the status, Retry-After and, of
 * a failed request, the beginning of the response. Connections are kept alive per host; each one was made to an allowed address.
 */
export function createWebhookSender({
  networks,
  timeoutMs,
  userAgent,
  ca,
  lookup: resolve,
}: WebhookSenderOptions) {
  const policy = createOutboundPolicy(networks);
  const agentOptions = { keepAlive, ca, lookup: resolve };
  const agents = {
    'http:': createGuardedAgent(policy, 'http:', agentOptions),
    'https:': createGuardedAgent(policy, 'https:', agentOptions),
  };

  const checkDestination = (text: string) => findUrlProblem(policy, text, 'WEBHOOK_NETWORKS');

  /** The syntax is checked for new addresses only: webhooks of an older release continue. */
  const checkUrl = (text: string): string | undefined => checkDestination(text) ?? webAddressProblem(text);

  async function send(outbound: OutboundRequest, onBody?: OnBody): Promise<OutboundResponse> {
    const start = performance.now();
    const answer = await request(outbound, onBody);
    return { ...answer, duration_ms: Math.round(performance.now() - start) };
  }

  async function request(outbound: OutboundRequest, onBody?: OnBody): Promise<OutboundAnswer> {
    if (checkDestination(outbound.url) !== undefined)
      return { status: null, error: addressBlocked, failure: 'connection_refused' };
    const signal = AbortSignal.timeout(timeoutMs);
    const headers = { 'user-agent': userAgent, 'content-type': 'application/json', ...outbound.headers };
    try {
      return await post({ ...outbound, headers, onBody }, agents, signal);
    } catch (error) {
      if (signal.aborted) return { status: null, error: describeTimeout(timeoutMs), failure: 'timeout' };
      const failure = isTlsFailure(error) ? 'tls_error' : 'connection_refused';
      return { status: null, error: describeFailure(error), failure };
    }
  }

  return {
    checkUrl,
    send: (outbound: OutboundRequest) => send(outbound),
    async ask(outbound: OutboundRequest): Promise<OutboundResponse & { body: string }> {
      let body = '';
      const response = await send(outbound, (text) => {
        body = text;
      });
      return { ...response, body };
    },
    close(): void {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

function post(
  outbound: OutboundRequest & { onBody: OnBody | undefined },
  agents: Readonly<Record<'http:' | 'https:', http.Agent>>,
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  const url = new URL(outbound.url);
  const isPlain = url.protocol === 'http:';
  const { request } = isPlain ? http : https;
  const agent = agents[isPlain ? 'http:' : 'https:'];
  const headers = { ...outbound.headers, 'content-length': Buffer.byteLength(outbound.body) };
  return new Promise((resolve, reject) => {
    const call = request(url, { method: 'POST', agent, headers, signal, maxHeaderSize: 16_384 });
    let hasResponse = false;
    call.once('response', (response) => {
      hasResponse = true;
      const { onBody } = outbound;
      const answer = toOutboundAnswer(response);
      const isDelivered = answer.status >= 200 && answer.status < 300;
      if (isDelivered && !onBody) resolve(answer);
      drainResponse(response, (body) => {
        onBody?.(body);
        resolve(isDelivered ? answer : { ...answer, response: body });
      });
    });
    call.on('error', (error) => {
      // The status is known; a failure after it changes nothing.
      if (hasResponse) return;
      // The receiver closed an idle connection at the same moment, before it read the request.
      if (call.reusedSocket && getErrorCode(error) === 'ECONNRESET') resolve(post(outbound, agents, signal));
      else reject(error);
    });
    call.end(outbound.body);
  });
}

function toOutboundAnswer({ statusCode: status = 0, headers }: IncomingMessage) {
  const isRedirect = status >= 300 && status < 400;
  const retryAfterMs = status === 429 || status === 503 ? parseRetryAfter(headers['retry-after']) : undefined;
  return {
    status,
    error: isRedirect ? 'redirects are not followed' : null,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** Retry-After as milliseconds from now; the header holds seconds or a date (RFC 9110, section 10.2.3). */
export function parseRetryAfter(header: string | null | undefined): number | undefined {
  if (typeof header !== 'string') return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return ms > 0 ? ms : undefined;
}

function drainResponse(response: IncomingMessage, onEnd: OnBody): void {
  const chunks: Buffer[] = [];
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    chunks.push(chunk);
    if (size > maxResponseBytes) response.destroy();
  });
  response.on('error', () => response.destroy());
  response.once('close', () => onEnd(Buffer.concat(chunks).subarray(0, maxResponseBytes).toString()));
}
