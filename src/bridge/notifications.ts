import { setTimeout as pause } from 'node:timers/promises';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { HttpStatusError, errorReason, SessionLost, SignInError } from './errors.ts';
import type { Session } from './post.ts';

/** Where the stream stands: what the service named last. It outlives a session. */
export interface StreamPosition {
  cursor: string | undefined;
}

export interface FollowOptions {
  address: URL;
  fetch: FetchLike;
  session: Session;
  position: StreamPosition;
  onMessage(message: JSONRPCMessage): void;
  /** The session has ended. */
  onSessionLost(): void;
  log(line: string): void;
}

export interface Stream {
  /** Whether it goes on, or tries to. */
  isOpen(): boolean;
  close(): Promise<void>;
}

const maxPauseMs = 5_000;
const resumeHeader = 'last-event-id';

/**
 * Keeps the stream of notifications open (MCP, Transports: Listening for Messages from the Server), and comes back to where it
 * stood whatever happens. It ends with the session, or when nobody is signed in any more.
 */
export function followNotifications({
  address,
  fetch,
  session,
  position,
  onMessage,
  onSessionLost,
  log,
}: FollowOptions): Stream {
  let over = false;
  const transport = new StreamableHTTPClientTransport(address, {
    fetch: resuming,
    ...(session.id !== undefined && { sessionId: session.id }),
    reconnectionOptions: {
      initialReconnectionDelay: 250,
      maxReconnectionDelay: maxPauseMs,
      reconnectionDelayGrowFactor: 2,
      maxRetries: Infinity,
    },
  });
  if (session.version !== undefined) transport.setProtocolVersion(session.version);
  // The SDK's transports take one handler of each kind.
  Object.assign(transport, { onmessage: onMessage });

  /** The place is ours to know: the transport forgets it when a stream ends before it said anything. */
  async function resuming(url: string | URL, init?: RequestInit): Promise<Response> {
    const headers = new Headers(init?.headers);
    headers.delete(resumeHeader);
    if (position.cursor !== undefined) headers.set(resumeHeader, position.cursor);
    try {
      return await fetch(url, { ...init, headers });
    } catch (error) {
      if (error instanceof HttpStatusError && error.status === 400 && position.cursor !== undefined) {
        log('the place in the stream of notifications is not known any more; some may be missing');
        position.cursor = undefined;
      }
      if (error instanceof SessionLost) onSessionLost();
      if (error instanceof SignInError) log(`no more notifications: ${error.message}`);
      if (error instanceof SessionLost || error instanceof SignInError) await close();
      throw error;
    }
  }

  /** Once it was open, the transport comes back by itself. */
  async function open(): Promise<void> {
    await transport.start();
    for (let wait = 250; ; wait = Math.min(2 * wait, maxPauseMs)) {
      try {
        await transport.resumeStream('', {
          onresumptiontoken(cursor) {
            position.cursor = cursor;
          },
        });
        return;
      } catch (error) {
        if (over) return;
        if (wait === 250) log(`notifications cannot be followed just now (${errorReason(error)})`);
        await pause(wait, undefined, { ref: false });
      }
    }
  }

  async function close(): Promise<void> {
    over = true;
    await transport.close();
  }

  void open();
  return { isOpen: () => !over, close };
}
