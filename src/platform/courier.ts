import type { lookup } from 'node:dns';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { createEgress, guardedLookup, type Network, NoWayOut } from './egress.ts';

export interface CourierOptions {
  /** What may be called beside public addresses; there http will do. */
  networks: readonly Network[];
  /** Milliseconds for one letter, from the look-up of the name to the answer. */
  patience_ms: number;
  /** What the receiver is told about who posts. */
  user_agent: string;
  /** Certificates to trust beside the usual ones, and another resolver; for tests. */
  ca?: string;
  lookup?: typeof lookup;
}

/** Of an answer that nobody reads, for the connection to be used again. More than this, and it is cut. */
const largestAnswer = 1_024;
/** Longer than most receivers keep a connection open is of no use. */
const idle_ms = 20_000;

/**
 * Posts to addresses that strangers name: no redirects, no proxy, nothing of the answer but its status and Retry-After. Connections to a host are
 * kept for the next letter; each was made to an address that was checked.
 */
export function createCourier(options: CourierOptions) {
  const { networks, patience_ms, user_agent } = options;
  const egress = createEgress(networks);
  const keep = { keepAlive: true, maxFreeSockets: 256, timeout: idle_ms, scheduling: 'lifo' } as const;
  const ways = {
    'http:': {
      request: http.request,
      agent: new http.Agent({ ...keep, lookup: guardedLookup(egress, 'http:', options.lookup) }),
    },
    'https:': {
      request: https.request,
      agent: new https.Agent({
        ...keep,
        lookup: guardedLookup(egress, 'https:', options.lookup),
        ...(options.ca !== undefined && { ca: options.ca }),
      }),
    },
  };

  function refusal(address: string): string | undefined {
    const url = URL.parse(address);
    const protocol = url?.protocol;
    if (!url || (protocol !== 'https:' && (protocol !== 'http:' || egress.public_only))) {
      return 'must be an address that starts with https://';
    }
    if (url.username !== '' || url.password !== '') return 'must hold no user name and no password';
    if (url.hash !== '') return 'must have no fragment';
    const host = bare(url.hostname);
    if (isIP(host) > 0 && !egress.permits(host, protocol)) return 'must lead to a public address';
    return undefined;
  }

  async function send(letter: Letter, signal: AbortSignal): Promise<Posted> {
    const url = new URL(letter.url);
    const { request, agent } = ways[url.protocol === 'http:' ? 'http:' : 'https:'];
    const headers = {
      'user-agent': user_agent,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(letter.body),
      ...letter.headers,
    };
    return new Promise((resolve, reject) => {
      const call = request(url, { method: 'POST', agent, headers, signal, maxHeaderSize: 16_384 });
      let answered = false;
      call.once('response', (answer) => {
        answered = true;
        leave(answer);
        const status = answer.statusCode ?? 0;
        const moved = status >= 300 && status < 400;
        const asked = status === 429 || status === 503 ? restAsked(answer.headers['retry-after']) : undefined;
        const rest = asked !== undefined && { rest: asked };
        resolve({ status, fault: moved ? 'redirects are not followed' : null, ...rest });
      });
      call.on('error', (error) => {
        // The status has come: what becomes of the rest of the answer, or of the connection, changes nothing.
        if (answered) return;
        // The receiver gave a kept connection up in the same moment: it has not seen the letter.
        if (call.reusedSocket && codeOf(error) === 'ECONNRESET') resolve(send(letter, signal));
        else reject(error);
      });
      call.end(letter.body);
    });
  }

  return {
    refusal,
    async post(letter: Letter): Promise<Posted> {
      if (refusal(letter.url) !== undefined) return { status: null, fault: noWayOut };
      const signal = AbortSignal.timeout(patience_ms);
      try {
        return await send(letter, signal);
      } catch (error) {
        return { status: null, fault: signal.aborted ? tooLate(patience_ms) : faultOf(error) };
      }
    },
    close(): void {
      for (const { agent } of Object.values(ways)) agent.destroy();
    },
  };
}

interface Letter {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

interface Posted {
  status: number | null;
  fault: string | null;
  rest?: number;
}

/** Retry-After, in seconds or as a date (RFC 9110, section 10.2.3), as milliseconds from now. */
function restAsked(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const rest = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return rest > 0 ? rest : undefined;
}

/** Reads a short body to its end, so that the connection is free again; a long one is not worth it. */
function leave(answer: IncomingMessage): void {
  let size = 0;
  answer.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > largestAnswer) answer.destroy();
  });
  answer.on('error', () => answer.destroy());
}

const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

const noWayOut = 'the address leads to nothing that may be called';
const tooLate = (patience_ms: number): string => `no answer within ${patience_ms / 1_000} s`;

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** In our own words: those of the system would tell of more than the receiver. */
function faultOf(error: unknown): string {
  if (error instanceof NoWayOut) return noWayOut;
  const code = codeOf(error);
  if (/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/.test(code)) return 'no trusted connection';
  if (code.startsWith('HPE_')) return 'the answer is not HTTP';
  return code === 'ECONNRESET' ? 'the connection broke off' : 'no connection';
}
