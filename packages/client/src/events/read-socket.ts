import type { EventBuffer } from './buffer.ts';
import type { Position } from './position.ts';
import { openSocket, type SocketConstructor } from './socket.ts';
import type { FeedEvent } from './types.ts';

/** How a connection ended. */
export interface SocketEnd {
  /** Whether the service had accepted it. */
  wasReady: boolean;
  /** 1008: the token has ended. */
  code: number;
}

interface ReadyFrame {
  type: 'ready';
  data: { cursor: string; gap: boolean };
}

type Frame = ReadyFrame | FeedEvent | { type: 'pong' | 'error' | 'result' };

export interface SocketConnection {
  Constructor: SocketConstructor;
  url: string;
  protocols: string[];
  pingMs: number;
  signal: AbortSignal;
  onReady: () => void;
}

/** How long a connection may take to open. */
const openMs = 15_000;

/** Reads events over one WebSocket until it ends. It reads no further while the buffer is full. */
export function readSocket(
  { Constructor, url, protocols, pingMs, signal, onReady }: SocketConnection,
  position: Position,
  buffer: EventBuffer,
): Promise<SocketEnd> {
  return new Promise((resolve) => {
    let wasReady = false;
    const socket = openSocket(
      Constructor,
      { url, protocols, pingMs, openMs },
      {
        onText(text) {
          const frame = parseFrame(text);
          if (!frame) {
            socket.close();
          } else if (isReady(frame)) {
            wasReady = true;
            onReady();
            if (frame.data.gap) position.addGap(frame.data.cursor);
            position.cursor = frame.data.cursor;
          } else if (isEvent(frame)) {
            position.addEvent(frame);
            if (buffer.isFull) holdBack();
          }
        },
        onEnd(code) {
          signal.removeEventListener('abort', close);
          resolve({ wasReady, code });
        },
      },
    );
    const close = () => socket.close();
    if (signal.aborted) close();
    signal.addEventListener('abort', close, { once: true });

    let isHeldBack = false;
    function holdBack(): void {
      if (isHeldBack) return;
      isHeldBack = true;
      if (!socket.pause()) {
        // The next connection starts at the position, when there is room.
        socket.close();
        return;
      }
      void continueWithRoom();
    }

    async function continueWithRoom(): Promise<void> {
      await buffer.waitForRoom();
      isHeldBack = false;
      socket.resume();
    }
  });
}

/** Returns undefined for what the service does not send. */
function parseFrame(text: string): Frame | undefined {
  try {
    return JSON.parse(text) as Frame;
  } catch {
    return undefined; // a proxy is in the way: the caller closes the connection
  }
}

function isReady(frame: Frame): frame is ReadyFrame {
  return frame.type === 'ready';
}

/** Frames of a later version that are no events have no cursor. */
function isEvent(frame: Frame): frame is FeedEvent {
  return 'cursor' in frame && 'id' in frame;
}
