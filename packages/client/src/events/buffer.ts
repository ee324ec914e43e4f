import type { FeedEvent, GapPosition } from './types.ts';

/** Events that wait for the loop. The buffer has one reader and one writer. */
export class EventBuffer {
  readonly #events: (FeedEvent | GapPosition)[] = [];
  readonly #maxSize: number;
  #end: { error?: unknown } | undefined;
  #onEvent: (() => void) | undefined;
  #onRoom: (() => void) | undefined;

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  get isFull(): boolean {
    return this.#events.length >= this.#maxSize;
  }

  push(event: FeedEvent | GapPosition): void {
    this.#events.push(event);
    this.#onEvent?.();
  }

  /** No more events come. With an error, the reader gets it after the last event. */
  end(error?: unknown): void {
    this.#end ??= error === undefined ? {} : { error };
    this.#onEvent?.();
    this.#onRoom?.();
  }

  /** Drops the events that are left. */
  clear(): void {
    this.#events.length = 0;
  }

  /** Returns the next event; undefined after the end. */
  async take(): Promise<FeedEvent | GapPosition | undefined> {
    while (this.#events.length === 0 && !this.#end) {
      await new Promise<void>((resolve) => {
        this.#onEvent = resolve;
      });
    }
    const event = this.#events.shift();
    if (this.#events.length <= this.#maxSize / 2) this.#onRoom?.();
    if (event === undefined && this.#end && 'error' in this.#end) throw this.#end.error;
    return event;
  }

  /** Waits until half of the buffer is free, if it is full. */
  async waitForRoom(): Promise<void> {
    if (!this.isFull || this.#end) return;
    await new Promise<void>((resolve) => {
      this.#onRoom = resolve;
    });
  }
}
