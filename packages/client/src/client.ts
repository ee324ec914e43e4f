import { type AskOptions, type AskTarget, ask, type Reply } from './ask.ts';
import { type AttachmentFiles, createAttachmentFiles, type FilePlatform } from './attachments.ts';
import { createCall, createNouns } from './calls/nouns.ts';
import { createSend, type Fetch } from './calls/request.ts';
import type { CallOptions } from './calls/types.ts';
import type { SocketConstructor } from './events/socket.ts';
import { type EventStream, openEvents } from './events/stream.ts';
import type { EventOptions } from './events/types.ts';
import type { Nouns } from './generated/nouns.ts';
import { createInboxWork, type InboxWork, type WorkPlatform } from './inbox-work.ts';
import { createTaskWork, type TaskWork } from './tasks.ts';
import { createTokenSource } from './sign-in/token-source.ts';
import type { Auth } from './sign-in/types.ts';

export interface ClientOptions {
  /** The address of the service, for example https://agents.example.com. */
  url: string;
  auth: Auth;
  /** For a whole call with its retries; default: 60,000. */
  timeoutMs?: number;
  /** Attempts after the first; default: 2. */
  maxRetries?: number;
  /** Instead of the one of the platform. */
  fetch?: Fetch;
  /** Instead of the one of the platform. */
  webSocket?: SocketConstructor;
}

/** What differs between browsers and Node. */
export interface Platform extends WorkPlatform, FilePlatform {
  loadSocket: () => Promise<SocketConstructor | undefined>;
}

/** An agent's access to the service. */
export interface Client extends Nouns {
  attachments: Nouns['attachments'] & AttachmentFiles;
  inbox: Nouns['inbox'] & InboxWork;
  tasks: Nouns['tasks'] & TaskWork;
  /** Receives the events of the agent, over changing connections, from the stored position on. */
  events(options?: EventOptions): EventStream;
  /** Stores a position on the service: readers without a position start there. */
  acknowledgeEvents(cursor: string, options?: CallOptions): Promise<void>;
  /** Creates a one-time ticket, with which a page in a browser receives events. */
  createTicket(options?: CallOptions): Promise<{ ticket: string; expires_at: number }>;
  /** Sends a message and waits for the answer of another member; null if none comes in time. */
  ask(target: AskTarget, content: string, options?: AskOptions): Promise<Reply | null>;
}

const browser: Platform = {
  loadSocket: async () => Reflect.get(globalThis, 'WebSocket') as SocketConstructor | undefined,
};

/** Creates a client. It opens no connection until it is used. */
export function createClient(options: ClientOptions, platform: Platform = browser): Client {
  const url = options.url.replace(/\/+$/, '');
  const api = `${url}/v1`;
  const fetch: Fetch = options.fetch ?? ((address, init) => globalThis.fetch(address, init));
  const { timeoutMs = 60_000, maxRetries = 2 } = options;
  const getToken = createTokenSource(options.auth, url, fetch, timeoutMs);
  const send = createSend({ fetch, getToken, timeoutMs, maxRetries });
  const call = createCall(send, api);
  const nouns = createNouns(call);
  const { auth, webSocket } = options;
  const events = {
    call,
    getToken,
    ...(typeof auth === 'object' && 'getTicket' in auth && { getTicket: auth.getTicket }),
    socketUrl: `${url.replace(/^http/, 'ws')}/ws`,
    loadSocket: async () => webSocket ?? (await platform.loadSocket()),
  };
  return {
    ...nouns,
    attachments: { ...nouns.attachments, ...createAttachmentFiles(send, api, platform) },
    inbox: { ...nouns.inbox, ...createInboxWork(nouns.inbox, platform) },
    tasks: { ...nouns.tasks, ...createTaskWork(nouns.tasks, call) },
    events: (eventOptions = {}) => openEvents(events, eventOptions),
    acknowledgeEvents: (cursor, callOptions) =>
      call({ method: 'POST', path: '/events/ack' }, { cursor }, callOptions),
    createTicket: (callOptions) => call({ method: 'POST', path: '/realtime/tickets' }, {}, callOptions),
    ask: (target, content, askOptions) => ask(nouns.threads, target, content, askOptions),
  };
}
