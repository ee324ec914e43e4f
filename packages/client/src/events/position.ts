import type { EventBuffer } from './buffer.ts';
import type { FeedEvent } from './types.ts';

/** This many last events are not given twice: delivery is at least once. */
const remembered = 1_000;

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
    // Two agents of one owner get the same event, each for itself.
    const key = `${event.agent_id} ${event.id}`;
    if (this.#recent.has(key)) return;
    this.#recent.add(key);
    const [oldest] = this.#recent;
    if (this.#recent.size > remembered && oldest !== undefined) this.#recent.delete(oldest);
    this.#buffer.push(event);
  }

  /** @param cursor where the events after the gap start */
  addGap(cursor: string): void {
    this.#buffer.push({ type: 'gap', cursor });
  }
}
