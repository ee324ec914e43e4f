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
import { errorReason, SessionLost } from './errors.ts';
import { followNotifications, type StreamPosition, type Stream } from './notifications.ts';
import { postMessage, type Session } from './post.ts';
import { createRetryPolicy } from './retry-policy.ts';

export interface ServiceConnectionParts {
  address: URL;
  fetch: FetchLike;
  /** How long a message is tried for while the service is away, in ms. */
  timeout_ms: number;
  onMessage(message: JSONRPCMessage): void;
  log(line: string): void;
}

export interface ServiceConnection {
  /** Begins a session with the client's own request, and answers what the service says to it. */
  begin(initialize: JSONRPCRequest, signal: AbortSignal): Promise<JSONRPCResponse | undefined>;
  /**
   * Carries a message to the service, as often as that is safe while it is away, through a new session when the old one has ended.
   * @throws what the last try threw.
   */
  send(
    message: JSONRPCMessage,
    signal: AbortSignal,
    hear?: (message: JSONRPCMessage) => void,
  ): Promise<JSONRPCResponse | undefined>;
  /** The client is ready: notifications may come. */
  startNotifications(): void;
  /** Ends the session; waits a moment for the service to know. */
  close(): Promise<void>;
}

const closeTimeoutMs = 2_000;
const maxPauseMs = 3_000;
/** New sessions for one message, at most. */
const maxSessions = 3;

/** The service's side of the bridge: one session after the other, and the stream of notifications that goes through all of them. */
export function createServiceConnection({
  address,
  fetch,
  timeout_ms,
  onMessage,
  log,
}: ServiceConnectionParts): ServiceConnection {
  const repeating = createRetryPolicy();
  const position: StreamPosition = { cursor: undefined };
  const wishes = new Map<string, JSONRPCRequest>();
  let session: Session = { id: undefined, version: undefined };
  let opening: JSONRPCRequest | undefined;
  let renewing: Promise<void> | undefined;
  let stream: Stream | undefined;
  let listening = false;
  let closed = false;

  /** Tries for as long as that is safe and worth while. */
  async function insist(message: JSONRPCMessage, signal: AbortSignal, at: () => Session, heard = onMessage) {
    const deadline = Date.now() + timeout_ms;
    for (let wait = 200; ; wait = Math.min(2 * wait, maxPauseMs)) {
      try {
        const posted = await postMessage(message, {
          address,
          fetch,
          session: at(),
          onMessage: heard,
          signal,
        });
        if (wait > 200) log('the service is back');
        return posted;
      } catch (error) {
        const late = Date.now() + wait > deadline;
        if (late || signal.aborted || !repeating.allowsRetry(message, error)) throw error;
        if (wait === 200) log(`the service at ${address.href} is away (${errorReason(error)}); trying again`);
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
    if (listening) startNotifications();
  }

  function renewed(lost: Session): Promise<void> {
    if (lost !== session) return Promise.resolve();
    if (!opening) return Promise.reject(new SessionLost('the session has ended'));
    renewing ??= renew(opening).finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  function startNotifications(): void {
    listening = true;
    if (closed || stream?.isOpen()) return;
    const followed = session;
    const onSessionLost = () =>
      void renewed(followed).catch((error: unknown) => log(`no more notifications: ${errorReason(error)}`));
    stream = followNotifications({
      address,
      fetch,
      session: followed,
      position,
      onMessage,
      onSessionLost,
      log,
    });
  }

  function remember(message: JSONRPCMessage, answer: JSONRPCResponse | undefined): void {
    if (!answer || isJSONRPCErrorResponse(answer) || !isJSONRPCRequest(message)) return;
    repeating.learnTools(message, answer);
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
    async send(message, signal, heard = onMessage) {
      for (let sessions = 0; ; sessions += 1) {
        await renewing?.catch(() => 'whoever began it says why');
        const used = session;
        try {
          const { answer } = await insist(message, signal, () => used, heard);
          remember(message, answer);
          if (listening) startNotifications();
          return answer;
        } catch (error) {
          if (!(error instanceof SessionLost) || sessions === maxSessions) throw error;
          await renewed(used);
        }
      }
    },
    startNotifications,
    async close() {
      closed = true;
      await stream?.close();
      const { id } = session;
      if (id === undefined) return;
      const init = { method: 'DELETE', signal: AbortSignal.timeout(closeTimeoutMs) };
      const bounded: FetchLike = (url, given) => fetch(url, { ...given, ...init });
      const transport = new StreamableHTTPClientTransport(address, { fetch: bounded, sessionId: id });
      await transport
        .terminateSession()
        .catch((error: unknown) => log(`the session could not be ended (${errorReason(error)})`));
    },
  };
}
