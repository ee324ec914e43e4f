import { setTimeout as pause } from 'node:timers/promises';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { HttpStatusError, errorReason, SessionLost, SignInError } from './errors.ts';
import type { Session } from './post.ts';

/** The position in the stream: the last event id. It outlives a session. */
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
  log(text: string): void;
}

export interface Stream {
  /** Whether it is open or reconnecting. */
  isOpen(): boolean;
  close(): Promise<void>;
}

const minPauseMs = 250;
const maxPauseMs = 5_000;
const resumeHeader = 'last-event-id';

/**
 * Keeps the notification stream open (MCP, Transports: Listening for Messages from the Server) and resumes it after the last event. It
 * ends with the session or the sign-in.
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
  let isClosed = false;
  const transport = new StreamableHTTPClientTransport(address, {
    fetch: fetchWithPosition,
    ...(session.id !== undefined && { sessionId: session.id }),
    reconnectionOptions: {
      initialReconnectionDelay: minPauseMs,
      maxReconnectionDelay: maxPauseMs,
      reconnectionDelayGrowFactor: 2,
      maxRetries: Infinity,
    },
  });
  if (session.version !== undefined) transport.setProtocolVersion(session.version);
  // SDK transports have one handler property for each event.
  Object.assign(transport, { onmessage: onMessage });

  /** Sets Last-Event-ID, because the transport forgets it if a stream ends before its first event. */
  async function fetchWithPosition(url: string | URL, init?: RequestInit): Promise<Response> {
    const headers = new Headers(init?.headers);
    headers.delete(resumeHeader);
    if (position.cursor !== undefined) headers.set(resumeHeader, position.cursor);
    try {
      return await fetch(url, { ...init, headers });
    } catch (error) {
      if (error instanceof HttpStatusError && error.status === 400 && position.cursor !== undefined) {
        log('the position in the notification stream has expired; notifications may be missing');
        position.cursor = undefined;
      }
      if (error instanceof SessionLost) onSessionLost();
      if (error instanceof SignInError) log(`notifications ended: ${error.message}`);
      if (error instanceof SessionLost || error instanceof SignInError) await close();
      throw error;
    }
  }

  /** Opens the stream; after that the transport reconnects by itself. */
  async function open(): Promise<void> {
    await transport.start();
    for (let pauseMs = minPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      try {
        await transport.resumeStream('', {
          onresumptiontoken(cursor) {
            position.cursor = cursor;
          },
        });
        return;
      } catch (error) {
        if (isClosed) return;
        if (pauseMs === minPauseMs) log(`notifications are unavailable (${errorReason(error)}); retrying`);
        await pause(pauseMs, undefined, { ref: false });
      }
    }
  }

  async function close(): Promise<void> {
    isClosed = true;
    await transport.close();
  }

  void open();
  return { isOpen: () => !isClosed, close };
}
