import { setTimeout as pause } from 'node:timers/promises';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { HttpRefusal, reasonOf, SessionLost, SignInError } from './failures.ts';
import type { Session } from './post.ts';

/** Where the stream stands: what the service named last. It outlives a session. */
export interface Place {
  cursor: string | undefined;
}

export interface Following {
  address: URL;
  fetch: FetchLike;
  session: Session;
  place: Place;
  hear(message: JSONRPCMessage): void;
  /** The session has ended. */
  lost(): void;
  log(line: string): void;
}

export interface Stream {
  /** Whether it goes on, or tries to. */
  open(): boolean;
  close(): Promise<void>;
}

const longestPause_ms = 5_000;
const resumeHeader = 'last-event-id';

/**
 * Keeps the stream of notifications open (MCP, Transports: Listening for Messages from the Server), and comes back to where it
 * stood whatever happens. It ends with the session, or when nobody is signed in any more.
 */
export function follow({ address, fetch, session, place, hear, lost, log }: Following): Stream {
  let over = false;
  const transport = new StreamableHTTPClientTransport(address, {
    fetch: resuming,
    ...(session.id !== undefined && { sessionId: session.id }),
    reconnectionOptions: {
      initialReconnectionDelay: 250,
      maxReconnectionDelay: longestPause_ms,
      reconnectionDelayGrowFactor: 2,
      maxRetries: Infinity,
    },
  });
  if (session.version !== undefined) transport.setProtocolVersion(session.version);
  // The SDK's transports take one handler of each kind.
  Object.assign(transport, { onmessage: hear });

  /** The place is ours to know: the transport forgets it when a stream ends before it said anything. */
  async function resuming(url: string | URL, init?: RequestInit): Promise<Response> {
    const headers = new Headers(init?.headers);
    headers.delete(resumeHeader);
    if (place.cursor !== undefined) headers.set(resumeHeader, place.cursor);
    try {
      return await fetch(url, { ...init, headers });
    } catch (error) {
      if (error instanceof HttpRefusal && error.status === 400 && place.cursor !== undefined) {
        log('the place in the stream of notifications is not known any more; some may be missing');
        place.cursor = undefined;
      }
      if (error instanceof SessionLost) lost();
      if (error instanceof SignInError) log(`no more notifications: ${error.message}`);
      if (error instanceof SessionLost || error instanceof SignInError) await close();
      throw error;
    }
  }

  /** Once it was open, the transport comes back by itself. */
  async function open(): Promise<void> {
    await transport.start();
    for (let wait = 250; ; wait = Math.min(2 * wait, longestPause_ms)) {
      try {
        await transport.resumeStream('', {
          onresumptiontoken(cursor) {
            place.cursor = cursor;
          },
        });
        return;
      } catch (error) {
        if (over) return;
        if (wait === 250) log(`notifications cannot be followed just now (${reasonOf(error)})`);
        await pause(wait, undefined, { ref: false });
      }
    }
  }

  async function close(): Promise<void> {
    over = true;
    await transport.close();
  }

  void open();
  return { open: () => !over, close };
}
