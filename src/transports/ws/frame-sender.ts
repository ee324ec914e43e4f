import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { WebSocketLimits } from './limits.ts';
import { encodeTextFrames } from './text-frames.ts';

export interface FrameSender {
  /** Whether frames can still be sent. */
  isOpen(): boolean;
  /** Sends frames in one write. When the buffer is full, the promise resolves when it is drained or the connection is closed. */
  send(texts: readonly string[]): Promise<void> | undefined;
  /** Sends one frame. When the buffer is full, no frames of the client are read until it is drained. */
  reply(text: string): void;
}

/**
 * Sends frames with a bounded buffer. While replies fill it, no frames of the client are read. `onSlow` is called when the client does not
 * read for `drain_ms`.
 */
export function createFrameSender(
  ws: WebSocket,
  socket: Duplex,
  limits: Pick<WebSocketLimits, 'buffered_bytes' | 'drain_ms'>,
  onSlow: () => void,
): FrameSender {
  let drained: Promise<void> | undefined;

  /** All that wait for the buffer share one timer. */
  function waitForDrain(): Promise<void> {
    drained ??= new Promise((resolve) => {
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
        drained = undefined;
        resolve();
      }
    });
    return drained;
  }

  const isOpen = () => ws.readyState === ws.OPEN;
  const isFull = () => ws.bufferedAmount > limits.buffered_bytes;

  return {
    isOpen,
    send(texts) {
      // No frame may follow a close frame.
      if (!isOpen()) return undefined;
      socket.write(encodeTextFrames(texts));
      return isFull() ? waitForDrain() : undefined;
    },
    reply(text) {
      if (!isOpen()) return;
      ws.send(text);
      if (!isFull() || ws.isPaused) return;
      ws.pause();
      void waitForDrain().then(() => ws.resume());
    },
  };
}
