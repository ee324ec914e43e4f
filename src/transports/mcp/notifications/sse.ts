import { Readable } from 'node:stream';

/** How much may wait for a slow reader before the writer waits too, in bytes. */
const highWaterMarkBytes = 64 * 1024;
/** Signs of life that may fall due, with no room to write one, before the reader is given up. */
const maxMissedHeartbeats = 4;

export interface SseStream {
  /** The body of the answer. */
  body: Readable;
  /** Sends text of the event stream format. Resolves when there is room for more, or nobody reads any more. Never rejects. */
  write(text: string): Promise<void>;
  /** Sends what was written, then ends the answer. */
  end(): void;
}

/**
 * The writing end of one SSE answer, with signs of life against idle proxies (HTML, Server-sent events). `slow` is told when its
 * reader is given up.
 */
export function createSseStream(heartbeatMs: number, slow?: () => void): SseStream {
  let proceed: (() => void) | undefined;
  let missed = 0;

  function hasRoom(): void {
    proceed?.();
    proceed = undefined;
  }
  const body = new Readable({ highWaterMark: highWaterMarkBytes, read: hasRoom });

  // A comment without an empty line behind it: some parsers take any empty line for an event.
  const heartbeat = setInterval(() => {
    missed = proceed ? missed + 1 : 0;
    if (missed >= maxMissedHeartbeats) {
      slow?.();
      body.destroy();
    } else if (!proceed) body.push(':\n');
  }, heartbeatMs);
  heartbeat.unref();
  body.once('close', () => {
    clearInterval(heartbeat);
    hasRoom();
  });

  let ended = false;
  return {
    body,
    async write(text) {
      if (ended || body.destroyed || body.push(text)) return;
      await new Promise<void>((resolve) => {
        proceed = resolve;
      });
    },
    end() {
      if (ended || body.destroyed) return;
      ended = true;
      clearInterval(heartbeat);
      hasRoom();
      body.push(null);
    },
  };
}

/** A message at which a stream cannot be resumed. `data` must be a single line, as JSON is. */
export function sseMessage(data: string): string {
  return `data: ${data}\n\n`;
}

/** One event of a stream. `data` must be a single line, as JSON is. */
export function sseEvent(id: string, data: string): string {
  return `id: ${id}\ndata: ${data}\n\n`;
}
