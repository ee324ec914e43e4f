import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { WebSocketLimits } from './limits.ts';
import { encodeTextFrames } from './text-frames.ts';

export interface FrameSender {
  /**
   * Sends frames in as few packets as they fit in. When there is no room for more, resolves as soon as there is, or there is no
   * more use in waiting.
   */
  send(texts: readonly string[]): Promise<void> | undefined;
  /** Sends one frame out of turn, such as an answer. */
  reply(text: string): void;
}

/** How many times `buffered_bytes` may wait at the very most: answers come on top of a page of events. */
const maxBufferFactor = 4;

/** The way out of a connection, with a bound on what may wait in it. `slow` is called when the other side does not read. */
export function createFrameSender(
  ws: WebSocket,
  socket: Duplex,
  limits: Pick<WebSocketLimits, 'buffered_bytes' | 'drain_ms'>,
  slow: () => void,
): FrameSender {
  function drained(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        slow();
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
      // Behind a close frame nothing may follow.
      if (ws.readyState !== ws.OPEN) return undefined;
      socket.write(encodeTextFrames(texts));
      return ws.bufferedAmount > limits.buffered_bytes ? drained() : undefined;
    },
    reply(text) {
      if (ws.bufferedAmount > maxBufferFactor * limits.buffered_bytes) slow();
      else ws.send(text);
    },
  };
}
