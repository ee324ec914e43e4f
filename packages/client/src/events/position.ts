import type { EventBuffer } from './buffer.ts';
import type { FeedEvent } from './types.ts';

/** Events of this many last ids are not given twice: delivery is at least once. */
const rememberedIds = 1_000;

/** How far a feed was read, whichever transport read it. */
export class Position {
  /** Where the next connection starts; undefined before the first answer of the service. */
  cursor: string | undefined;
  readonly #buffer: EventBuffer;
  readonly #recent = new Set<string>();

  constructor(buffer: EventBuffer, cursor: string | undefined) {
    this.#buffer = buffer;
    this.cursor = cursor;
  }

  addEvent(event: FeedEvent): void {
    this.cursor = event.cursor;
    if (this.#recent.has(event.id)) return;
    this.#recent.add(event.id);
    const [oldest] = this.#recent;
    if (this.#recent.size > rememberedIds && oldest !== undefined) this.#recent.delete(oldest);
    this.#buffer.push(event);
  }

  /** @param cursor where the events after the gap start */
  addGap(cursor: string): void {
    this.#buffer.push({ type: 'gap', cursor });
  }
}
