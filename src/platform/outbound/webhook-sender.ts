import type { lookup } from 'node:dns';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { createOutboundPolicy, createGuardedLookup, type Network, AddressBlocked } from './policy.ts';

export interface WebhookSenderOptions {
  /** What may be called beside public addresses; there http will do. */
  networks: readonly Network[];
  /** Milliseconds for one letter, from the look-up of the name to the answer. */
  timeoutMs: number;
  /** What the receiver is told about who posts. */
  userAgent: string;
  /** Certificates to trust beside the usual ones, and another resolver; for tests. */
  ca?: string;
  lookup?: typeof lookup;
}

/** Of an answer that nobody reads, for the connection to be used again. More than this, and it is cut. */
const maxResponseBytes = 1_024;
/** Longer than most receivers keep a connection open is of no use. */
const idleMs = 20_000;

/**
 * Posts to addresses that strangers name: no redirects, no proxy, nothing of the answer but its status and Retry-After. Connections to a host are
 * kept for the next letter; each was made to an address that was checked.
 */
export function createWebhookSender(options: WebhookSenderOptions) {
  const { networks, timeoutMs, userAgent } = options;
  const egress = createOutboundPolicy(networks);
  const keep = { keepAlive: true, maxFreeSockets: 256, timeout: idleMs, scheduling: 'lifo' } as const;
  const ways = {
    'http:': {
      request: http.request,
      agent: new http.Agent({ ...keep, lookup: createGuardedLookup(egress, 'http:', options.lookup) }),
    },
    'https:': {
      request: https.request,
      agent: new https.Agent({
        ...keep,
        lookup: createGuardedLookup(egress, 'https:', options.lookup),
        ...(options.ca !== undefined && { ca: options.ca }),
      }),
    },
  };

  function checkUrl(address: string): string | undefined {
    const url = URL.parse(address);
    const protocol = url?.protocol;
    if (!url || (protocol !== 'https:' && (protocol !== 'http:' || egress.isPublicOnly))) {
      return 'must be an address that starts with https://';
    }
    if (url.username !== '' || url.password !== '') return 'must hold no user name and no password';
    if (url.hash !== '') return 'must have no fragment';
    const host = stripBrackets(url.hostname);
    if (isIP(host) > 0 && !egress.isAllowed(host, protocol)) return 'must lead to a public address';
    return undefined;
  }

  async function send(letter: OutboundRequest, signal: AbortSignal): Promise<OutboundResponse> {
    const url = new URL(letter.url);
    const { request, agent } = ways[url.protocol === 'http:' ? 'http:' : 'https:'];
    const headers = {
      'user-agent': userAgent,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(letter.body),
      ...letter.headers,
    };
    return new Promise((resolve, reject) => {
      const call = request(url, { method: 'POST', agent, headers, signal, maxHeaderSize: 16_384 });
      let answered = false;
      call.once('response', (answer) => {
        answered = true;
        drainResponse(answer);
        const status = answer.statusCode ?? 0;
        const moved = status >= 300 && status < 400;
        const asked =
          status === 429 || status === 503 ? parseRetryAfter(answer.headers['retry-after']) : undefined;
        const rest = asked !== undefined && { rest: asked };
        resolve({ status, fault: moved ? 'redirects are not followed' : null, ...rest });
      });
      call.on('error', (error) => {
        // The status has come: what becomes of the rest of the answer, or of the connection, changes nothing.
        if (answered) return;
        // The receiver gave a kept connection up in the same moment: it has not seen the letter.
        if (call.reusedSocket && getErrorCode(error) === 'ECONNRESET') resolve(send(letter, signal));
        else reject(error);
      });
      call.end(letter.body);
    });
  }

  return {
    checkUrl,
    async send(letter: OutboundRequest): Promise<OutboundResponse> {
      if (checkUrl(letter.url) !== undefined) return { status: null, fault: addressBlocked };
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        return await send(letter, signal);
      } catch (error) {
        return { status: null, fault: signal.aborted ? describeTimeout(timeoutMs) : describeFault(error) };
      }
    },
    close(): void {
      for (const { agent } of Object.values(ways)) agent.destroy();
    },
  };
}

interface OutboundRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

interface OutboundResponse {
  status: number | null;
  fault: string | null;
  rest?: number;
}

/** Retry-After, in seconds or as a date (RFC 9110, section 10.2.3), as milliseconds from now. */
function parseRetryAfter(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const rest = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return rest > 0 ? rest : undefined;
}

/** Reads a short body to its end, so that the connection is free again; a long one is not worth it. */
function drainResponse(answer: IncomingMessage): void {
  let size = 0;
  answer.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxResponseBytes) answer.destroy();
  });
  answer.on('error', () => answer.destroy());
}

const stripBrackets = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

const addressBlocked = 'the address leads to nothing that may be called';
const describeTimeout = (patience_ms: number): string => `no answer within ${patience_ms / 1_000} s`;

function getErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** In our own words: those of the system would tell of more than the receiver. */
function describeFault(error: unknown): string {
  if (error instanceof AddressBlocked) return addressBlocked;
  const code = getErrorCode(error);
  if (/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/.test(code)) return 'no trusted connection';
  if (code.startsWith('HPE_')) return 'the answer is not HTTP';
  return code === 'ECONNRESET' ? 'the connection broke off' : 'no connection';
}
