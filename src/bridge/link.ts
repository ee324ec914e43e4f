import { setTimeout as pause } from 'node:timers/promises';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  InitializeResultSchema,
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type JSONRPCResponse,
} from '@modelcontextprotocol/sdk/types.js';
import { reasonOf, SessionLost } from './failures.ts';
import { follow, type Place, type Stream } from './notifications.ts';
import { post, type Session } from './post.ts';
import { createRepeating } from './repeating.ts';

export interface LinkParts {
  address: URL;
  fetch: FetchLike;
  /** How long a message is tried for while the service is away, in ms. */
  patience_ms: number;
  hear(message: JSONRPCMessage): void;
  log(line: string): void;
}

export interface Link {
  /** Begins a session with the client's own request, and answers what the service says to it. */
  begin(initialize: JSONRPCRequest, signal: AbortSignal): Promise<JSONRPCResponse | undefined>;
  /**
   * Carries a message to the service, as often as that is safe while it is away, through a new session when the old one has ended.
   * @throws what the last try threw.
   */
  carry(
    message: JSONRPCMessage,
    signal: AbortSignal,
    hear?: (message: JSONRPCMessage) => void,
  ): Promise<JSONRPCResponse | undefined>;
  /** The client is ready: notifications may come. */
  listen(): void;
  /** Ends the session; waits a moment for the service to know. */
  close(): Promise<void>;
}

const goodbye_ms = 2_000;
const longestPause_ms = 3_000;
/** New sessions for one message, at most. */
const mostSessions = 3;

/** The service's side of the bridge: one session after the other, and the stream of notifications that goes through all of them. */
export function createLink({ address, fetch, patience_ms, hear, log }: LinkParts): Link {
  const repeating = createRepeating();
  const place: Place = { cursor: undefined };
  const wishes = new Map<string, JSONRPCRequest>();
  let session: Session = { id: undefined, version: undefined };
  let opening: JSONRPCRequest | undefined;
  let renewing: Promise<void> | undefined;
  let stream: Stream | undefined;
  let listening = false;
  let closed = false;

  /** Tries for as long as that is safe and worth while. */
  async function insist(message: JSONRPCMessage, signal: AbortSignal, at: () => Session, heard = hear) {
    const deadline = Date.now() + patience_ms;
    for (let wait = 200; ; wait = Math.min(2 * wait, longestPause_ms)) {
      try {
        const posted = await post(message, { address, fetch, session: at(), hear: heard, signal });
        if (wait > 200) log('the service is back');
        return posted;
      } catch (error) {
        const late = Date.now() + wait > deadline;
        if (late || signal.aborted || !repeating.allows(message, error)) throw error;
        if (wait === 200) log(`the service at ${address.href} is away (${reasonOf(error)}); trying again`);
        await pause(wait * (0.75 + Math.random() / 2), undefined, { signal });
      }
    }
  }

  async function open(initialize: JSONRPCRequest, signal: AbortSignal) {
    const none: Session = { id: undefined, version: undefined };
    const { answer, session_id } = await insist(initialize, signal, () => none);
    if (!answer || isJSONRPCErrorResponse(answer)) return answer;
    const agreed = InitializeResultSchema.safeParse(answer.result);
    session = { id: session_id, version: agreed.data?.protocolVersion };
    return answer;
  }

  /** Begins anew in the words that the client began with. What it has asked of its session, it asks again. */
  async function renew(initialize: JSONRPCRequest): Promise<void> {
    const signal = new AbortController().signal;
    await stream?.close();
    const answer = await open(initialize, signal);
    if (!answer || isJSONRPCErrorResponse(answer)) throw new SessionLost('a new session was refused');
    const current = session;
    const again = (message: JSONRPCMessage) => insist(message, signal, () => current);
    await again({ jsonrpc: '2.0', method: 'notifications/initialized' });
    for (const wish of wishes.values()) await again(wish);
    log('the session had ended; a new one has begun');
    if (listening) listen();
  }

  function renewed(lost: Session): Promise<void> {
    if (lost !== session) return Promise.resolve();
    if (!opening) return Promise.reject(new SessionLost('the session has ended'));
    renewing ??= renew(opening).finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  function listen(): void {
    listening = true;
    if (closed || stream?.open()) return;
    const followed = session;
    const lost = () =>
      void renewed(followed).catch((error: unknown) => log(`no more notifications: ${reasonOf(error)}`));
    stream = follow({ address, fetch, session: followed, place, hear, lost, log });
  }

  function remember(message: JSONRPCMessage, answer: JSONRPCResponse | undefined): void {
    if (!answer || isJSONRPCErrorResponse(answer) || !isJSONRPCRequest(message)) return;
    repeating.learn(message, answer);
    const about = String(message.params?.['uri']);
    if (message.method === 'logging/setLevel') wishes.set(message.method, message);
    if (message.method === 'resources/subscribe') wishes.set(about, message);
    if (message.method === 'resources/unsubscribe') wishes.delete(about);
  }

  return {
    async begin(initialize, signal) {
      opening = initialize;
      await stream?.close();
      wishes.clear();
      return open(initialize, signal);
    },
    async carry(message, signal, heard = hear) {
      for (let sessions = 0; ; sessions += 1) {
        await renewing?.catch(() => 'whoever began it says why');
        const used = session;
        try {
          const { answer } = await insist(message, signal, () => used, heard);
          remember(message, answer);
          if (listening) listen();
          return answer;
        } catch (error) {
          if (!(error instanceof SessionLost) || sessions === mostSessions) throw error;
          await renewed(used);
        }
      }
    },
    listen,
    async close() {
      closed = true;
      await stream?.close();
      const { id } = session;
      if (id === undefined) return;
      const init = { method: 'DELETE', signal: AbortSignal.timeout(goodbye_ms) };
      const bounded: FetchLike = (url, given) => fetch(url, { ...given, ...init });
      const transport = new StreamableHTTPClientTransport(address, { fetch: bounded, sessionId: id });
      await transport
        .terminateSession()
        .catch((error: unknown) => log(`the session could not be ended (${reasonOf(error)})`));
    },
  };
}
