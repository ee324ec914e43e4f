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
import { postMessage, type PostResult, type Session } from './post.ts';
import { createRetryPolicy, type RetryPolicy } from './retry-policy.ts';

export interface ServiceConnectionParts {
  address: URL;
  fetch: FetchLike;
  /** How long a message is retried while the service is unavailable, in milliseconds. */
  timeout_ms: number;
  onMessage(message: JSONRPCMessage): void;
  log(text: string): void;
}

export interface ServiceConnection {
  /** Begins a session with the client's initialize request. Returns the service's response. */
  begin(initialize: JSONRPCRequest, signal: AbortSignal): Promise<JSONRPCResponse | undefined>;
  /**
   * Sends a message to the service, with retries if they are safe, and in a new session if the current one has ended.
   * @throws the error of the last attempt
   */
  send(
    message: JSONRPCMessage,
    signal: AbortSignal,
    onMessage?: (message: JSONRPCMessage) => void,
  ): Promise<JSONRPCResponse | undefined>;
  /** Starts the notification stream, once the client is initialized. */
  startNotifications(): void;
  /** Ends the session, and waits for the service for up to two seconds. */
  close(): Promise<void>;
}

const closeTimeoutMs = 2_000;
const minPauseMs = 200;
const maxPauseMs = 3_000;
/** Maximum number of new sessions for one message. */
const maxSessions = 3;
const noSession: Session = { id: undefined, version: undefined };

/** Creates the service's side of the bridge: consecutive sessions, and one notification stream that continues across them. */
export function createServiceConnection(parts: ServiceConnectionParts): ServiceConnection {
  const { onMessage, log } = parts;
  const retryPolicy = createRetryPolicy();
  const sendWithRetries = createRetryingSend(parts, retryPolicy);
  const sessionSetup = createSessionSetup();
  let session = noSession;
  let initializeRequest: JSONRPCRequest | undefined;
  let renewing: Promise<void> | undefined;
  const notifications = createNotifications(parts, (lost) => renewOnce(lost));

  async function open(initialize: JSONRPCRequest, signal: AbortSignal) {
    const { answer, session_id } = await sendWithRetries(initialize, signal, noSession);
    if (!answer || isJSONRPCErrorResponse(answer)) return answer;
    const result = InitializeResultSchema.safeParse(answer.result);
    session = { id: session_id, version: result.data?.protocolVersion };
    return answer;
  }

  /** Begins a new session with the client's own initialize request, and repeats its subscriptions and log level. */
  async function renew(initialize: JSONRPCRequest): Promise<void> {
    const signal = new AbortController().signal;
    await notifications.close();
    const answer = await open(initialize, signal);
    if (!answer || isJSONRPCErrorResponse(answer)) throw new SessionLost('a new session was refused');
    const current = session;
    await sendWithRetries({ jsonrpc: '2.0', method: 'notifications/initialized' }, signal, current);
    for (const request of sessionSetup.requests()) await sendWithRetries(request, signal, current);
    log('the session had ended; a new one has begun');
    notifications.restart(session);
  }

  function renewOnce(lost: Session): Promise<void> {
    if (lost !== session) return Promise.resolve();
    if (!initializeRequest) return Promise.reject(new SessionLost('the session has ended'));
    renewing ??= renew(initializeRequest).finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  return {
    async begin(initialize, signal) {
      initializeRequest = initialize;
      await notifications.close();
      sessionSetup.clear();
      return open(initialize, signal);
    },
    async send(message, signal, onAnswerMessage = onMessage) {
      for (let sessions = 0; ; sessions += 1) {
        await renewing?.catch(() => undefined); // reported by the call that began it
        const used = session;
        try {
          const { answer } = await sendWithRetries(message, signal, used, onAnswerMessage);
          if (answer && !isJSONRPCErrorResponse(answer)) {
            retryPolicy.learnTools(message, answer);
            sessionSetup.record(message);
          }
          notifications.restart(session);
          return answer;
        } catch (error) {
          if (!(error instanceof SessionLost) || sessions === maxSessions) throw error;
          await renewOnce(used);
        }
      }
    },
    startNotifications: () => notifications.start(session),
    async close() {
      await notifications.end();
      if (session.id !== undefined) await endSession(parts, session.id);
    },
  };
}

/** Follows the notifications of the current session, from the cursor at which those of the session before ended. */
function createNotifications(
  { address, fetch, onMessage, log }: ServiceConnectionParts,
  renew: (lost: Session) => Promise<void>,
) {
  const position: StreamPosition = { cursor: undefined };
  let stream: Stream | undefined;
  let isListening = false;
  let isEnded = false;

  function start(session: Session): void {
    isListening = true;
    if (isEnded || stream?.isOpen()) return;
    const onSessionLost = () =>
      void renew(session).catch((error: unknown) => log(`notifications ended: ${errorReason(error)}`));
    stream = followNotifications({ address, fetch, session, position, onMessage, onSessionLost, log });
  }

  return {
    start,
    /** Starts again if notifications were started before. */
    restart(session: Session): void {
      if (isListening) start(session);
    },
    async close(): Promise<void> {
      await stream?.close();
    },
    async end(): Promise<void> {
      isEnded = true;
      await stream?.close();
    },
  };
}

type Send = (
  message: JSONRPCMessage,
  signal: AbortSignal,
  session: Session,
  onMessage?: (message: JSONRPCMessage) => void,
) => Promise<PostResult>;

/** Returns a function that sends a message until it succeeds, a retry is unsafe, or the timeout has passed. */
function createRetryingSend(
  { address, fetch, timeout_ms, onMessage: defaultOnMessage, log }: ServiceConnectionParts,
  retryPolicy: RetryPolicy,
): Send {
  return async (message, signal, session, onMessage = defaultOnMessage) => {
    const deadline = Date.now() + timeout_ms;
    for (let pauseMs = minPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      try {
        const result = await postMessage(message, { address, fetch, session, onMessage, signal });
        if (pauseMs > minPauseMs) log('the service is available again');
        return result;
      } catch (error) {
        const isLate = Date.now() + pauseMs > deadline;
        if (isLate || signal.aborted || !retryPolicy.allowsRetry(message, error)) throw error;
        if (pauseMs === minPauseMs)
          log(`the service at ${address.href} is unavailable (${errorReason(error)}); retrying`);
        await pause(pauseMs * (0.75 + Math.random() / 2), undefined, { signal });
      }
    }
  };
}

/** Records the requests that configure a session, so that they can be repeated in a new one. */
function createSessionSetup() {
  const requests = new Map<string, JSONRPCRequest>();
  return {
    requests: () => [...requests.values()],
    clear: () => requests.clear(),
    record(message: JSONRPCMessage): void {
      if (!isJSONRPCRequest(message)) return;
      const uri = String(message.params?.['uri']);
      if (message.method === 'logging/setLevel') requests.set(message.method, message);
      if (message.method === 'resources/subscribe') requests.set(uri, message);
      if (message.method === 'resources/unsubscribe') requests.delete(uri);
    },
  };
}

async function endSession({ address, fetch, log }: ServiceConnectionParts, sessionId: string): Promise<void> {
  const request = { method: 'DELETE', signal: AbortSignal.timeout(closeTimeoutMs) };
  const fetchWithTimeout: FetchLike = (url, init) => fetch(url, { ...init, ...request });
  const transport = new StreamableHTTPClientTransport(address, { fetch: fetchWithTimeout, sessionId });
  await transport
    .terminateSession()
    .catch((error: unknown) => log(`the session could not be ended (${errorReason(error)})`));
}
