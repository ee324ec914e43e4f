import { Readable } from 'node:stream';
import type { Context } from 'koa';

/** Buffered bytes above which `write` waits. */
const highWaterMarkBytes = 64 * 1024;
/** Consecutive heartbeats with a full buffer after which the stream is closed. */
const maxMissedHeartbeats = 4;

export interface SseStream {
  /** The response body. */
  body: Readable;
  /** Sends SSE text. Resolves when the buffer has room, the response has not begun, or the stream is closed. Never rejects. */
  write(text: string): Promise<void>;
  /** Flushes the buffer and ends the response. */
  end(): void;
}

/**
 * The writable side of one SSE response, with heartbeats against proxy timeouts (HTML, Server-sent events). `onSlowReader` is
 * called when the stream is closed because the client does not read. `heartbeat` returns what is sent while the buffer has room.
 */
export function createSseStream(
  heartbeatMs: number,
  onSlowReader?: () => void,
  // A comment without an empty line after it: some parsers read any empty line as an event.
  heartbeat: () => string = () => ':\n',
): SseStream {
  let onRoom: (() => void) | undefined;
  let missed = 0;

  function resumeWriter(): void {
    onRoom?.();
    onRoom = undefined;
  }
  const body = new Readable({ highWaterMark: highWaterMarkBytes, read: resumeWriter });

  const timer = setInterval(() => {
    const isFull = onRoom !== undefined || body.readableLength >= highWaterMarkBytes;
    missed = isFull ? missed + 1 : 0;
    if (missed >= maxMissedHeartbeats) {
      onSlowReader?.();
      body.destroy();
    } else if (!isFull) body.push(heartbeat());
  }, heartbeatMs);
  timer.unref();
  body.once('close', () => {
    clearInterval(timer);
    resumeWriter();
  });

  let ended = false;
  return {
    body,
    async write(text) {
      if (ended || body.destroyed || body.push(text)) return;
      // Nothing reads before the handler of the request has returned: it must not wait for room.
      if (body.readableFlowing === null) return;
      await new Promise<void>((resolve) => {
        onRoom = resolve;
      });
    },
    end() {
      if (ended || body.destroyed) return;
      ended = true;
      clearInterval(timer);
      resumeWriter();
      body.push(null);
    },
  };
}

/** Makes the stream the response. The first bytes, a comment, send the head. */
export function sendStream(ctx: Context, { body, write }: SseStream, first = ':\n'): void {
  ctx.set({ 'Cache-Control': 'no-cache, no-transform', 'X-Accel-Buffering': 'no' });
  ctx.set('Content-Type', 'text/event-stream');
  ctx.body = body;
  void write(first);
}

/** An SSE event without an id. `data` must be a single line, such as JSON. */
export function sseMessage(data: string): string {
  return `data: ${data}\n\n`;
}

/** An SSE event with an id. `data` must be a single line, such as JSON. */
export function sseEvent(id: string, data: string): string {
  return `id: ${id}\ndata: ${data}\n\n`;
}

/** An SSE event with text of several lines. A line break of any kind ends a line of an event stream, so each line gets its own field. */
export function sseText(id: string, text: string): string {
  const lines = text.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `id: ${id}\n${lines.join('')}\n`;
}

/** How soon a client connects again, at random: that spreads reconnects after a restart. */
export function sseRetry(): string {
  return `retry: ${500 + Math.floor(Math.random() * 1_000)}\n`;
}
