import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { WebSocketLimits } from './limits.ts';
import { encodeTextFrames } from './text-frames.ts';

export interface FrameSender {
  /** Sends frames in one write. When the buffer is full, the promise resolves when it is drained or the connection is closed. */
  send(texts: readonly string[]): Promise<void> | undefined;
  /** Sends one frame, without waiting for the buffer to drain. */
  reply(text: string): void;
}

/** Replies may fill the buffer to this multiple of `buffered_bytes`: they come in addition to a page of events. */
const maxBufferFactor = 4;

/** Sends frames with a bounded buffer. `onSlow` is called when the client does not read. */
export function createFrameSender(
  ws: WebSocket,
  socket: Duplex,
  limits: Pick<WebSocketLimits, 'buffered_bytes' | 'drain_ms'>,
  onSlow: () => void,
): FrameSender {
  function waitForDrain(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        onSlow();
        done();
      }, limits.drain_ms);
      socket.once('drain', done);
      ws.once('close', done);
      function done(): void {
        clearTimeout(timer);
        socket.off('drain', done);
        ws.off('close', done);
        resolve();
      }
    });
  }

  return {
    send(texts) {
      // No frame may follow a close frame.
      if (ws.readyState !== ws.OPEN) return undefined;
      socket.write(encodeTextFrames(texts));
      return ws.bufferedAmount > limits.buffered_bytes ? waitForDrain() : undefined;
    },
    reply(text) {
      if (ws.bufferedAmount > maxBufferFactor * limits.buffered_bytes) onSlow();
      else ws.send(text);
    },
  };
}
