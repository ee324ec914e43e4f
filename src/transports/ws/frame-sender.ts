import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { WebSocketLimits } from './limits.ts';

type BufferLimits = Pick<WebSocketLimits, 'buffered_bytes' | 'unsent_bytes' | 'unsent_ms' | 'drain_ms'>;

/** What a sender reports to. */
export interface SlowReaderListener {
  /** Called when the buffer is not emptied in `drain_ms`, or has more than `unsent_bytes` still or again after `unsent_ms`. */
  onSlow(): void;
}

/** Sends the frames of one connection with a bounded buffer. While replies fill it, no frames of the client are read. */
export class FrameSender {
  readonly #ws: WebSocket;
  readonly #socket: Duplex;
  readonly #limits: BufferLimits;
  readonly #listener: SlowReaderListener;
  #drained: Promise<void> | undefined;
  #isChecked = false;

  constructor(ws: WebSocket, socket: Duplex, limits: BufferLimits, listener: SlowReaderListener) {
    this.#ws = ws;
    this.#socket = socket;
    this.#limits = limits;
    this.#listener = listener;
  }

  /** Whether frames can still be sent. */
  isOpen(): boolean {
    return this.#ws.readyState === this.#ws.OPEN;
  }

  /** Sends frames in one write. When the buffer is full, the promise resolves when it is drained or the connection is closed. */
  send(texts: readonly string[]): Promise<void> | undefined {
    // No frame may follow a close frame.
    if (!this.isOpen()) return undefined;
    this.#socket.cork();
    for (const text of texts) this.#ws.send(text);
    this.#socket.uncork();
    if (this.#isOverfull()) this.#checkLater();
    return this.#isFull() ? this.#waitForDrain() : undefined;
  }

  /** Sends one frame. When the buffer is full, no frames of the client are read until it is drained. */
  reply(text: string): void {
    const ws = this.#ws;
    if (!this.isOpen()) return;
    ws.send(text);
    if (!this.#isFull() || ws.isPaused) return;
    ws.pause();
    void this.#waitForDrain().then(() => ws.resume());
  }

  /** Right after a write, much is unsent for every client: only one that does not read leaves it so. */
  #checkLater(): void {
    if (this.#isChecked) return;
    this.#isChecked = true;
    setTimeout(() => {
      this.#isChecked = false;
      if (this.isOpen() && this.#isOverfull()) this.#listener.onSlow();
    }, this.#limits.unsent_ms).unref();
  }

  #isOverfull(): boolean {
    return this.#ws.bufferedAmount > this.#limits.unsent_bytes;
  }

  #isFull(): boolean {
    return this.#ws.bufferedAmount > this.#limits.buffered_bytes;
  }

  /** All that wait for the buffer share one timer. */
  #waitForDrain(): Promise<void> {
    this.#drained ??= new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#socket.off('drain', done);
        this.#ws.off('close', done);
        this.#drained = undefined;
        resolve();
      };
      const timer = setTimeout(() => {
        this.#listener.onSlow();
        done();
      }, this.#limits.drain_ms);
      this.#socket.once('drain', done);
      this.#ws.once('close', done);
    });
    return this.#drained;
  }
}
