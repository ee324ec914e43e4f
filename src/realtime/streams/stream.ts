import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import type { Cursors } from '../../work/cursors.ts';
import { canSeeEvent } from '../../../packages/core/src/events/feed-event.ts';
import type { LiveEvent, OpenStream, StreamEnd, StreamMetrics, StreamReader } from '../contract.ts';
import { type Lane, livePageEvents, type Pages } from '../feed/pages.ts';
import type { Receipts } from '../receipts.ts';
import { type NextPageParts, type PageReader, readNextPage } from './next-page.ts';
import type { Listener } from './registry.ts';
import { steadyNow } from '../../shared/clock.ts';

/** What all streams share. */
export interface StreamParts extends NextPageParts {
  pages: Pages;
  cursors: Pick<Cursors, 'encodeFeed'>;
  receipts: Pick<Receipts, 'delivered'> | undefined;
  metrics: StreamMetrics | undefined;
  /** Called once for each stream, when it has ended. */
  onClose(stream: Stream): void;
}

/**
 * Delivers one agent's feed to one reader: every event after its start, in feed order, at least once.
 *
 *     opening ──start──> idle ──notify(number > position)──> reading ──> idle
 *        │                 │                                    │
 *        └─────────────────┴───────────────end─────────────────┴──> ended
 *
 *     reading:  page after #position ──> deliver to the reader ──> #position = end of the page
 *                    ^                                                   │
 *                    └──────── the page was full, or a number above ─────┘
 *                              #position was notified meanwhile
 *
 * The feed decides what comes next; a notification only says that there may be more. So a late, duplicated or wrong one costs at most a
 * query, and a lost one is repaired by the next or by polling. The position moves after the delivery: an error before that delivers the
 * page again. The next page is read only after the last one was delivered, so a slow reader does not delay others.
 *
 * A page is `live` if it comes soon after its events, and then often cached; `replay` pages have their own limits, so that a reader that
 * catches up does not delay live ones. Entries that are no longer kept end the stream with `position_expired`; after a database restore the
 * position moves to the new range.
 *
 * A class, because closures would take 2 KB more for each idle stream.
 */
export class Stream implements Listener, OpenStream, PageReader {
  readonly actor: Actor;
  resumed = false;
  gap = false;
  readonly #parts: StreamParts;
  readonly #reader: StreamReader;
  #phase: 'opening' | 'idle' | 'reading' | 'ended' = 'opening';
  /** Number of the last entry that was delivered or skipped. */
  #position = 0;
  /** Largest entry number announced since the last read began. */
  #notifiedNumber = 0;
  /** When it was first announced, in epoch milliseconds; undefined when that was before the stream was up to date. */
  #notifiedAt: number | undefined;
  #earlyEnd: StreamEnd | undefined;

  constructor(parts: StreamParts, actor: Actor, reader: StreamReader) {
    this.#parts = parts;
    this.actor = actor;
    this.#reader = reader;
  }

  get transport() {
    return this.#reader.transport;
  }

  get cursor(): string {
    return this.#parts.cursors.encodeFeed(this.actor.agent_id, this.#position);
  }

  position(): number {
    return this.#position;
  }

  /** Sets where to start. `lastNumber` is the number of the last entry of the feed at that moment. */
  setStart(start: { position: number; resumed: boolean; gap: boolean }, lastNumber: number): void {
    this.#position = start.position;
    this.resumed = start.resumed;
    this.gap = start.gap;
    this.#notifiedNumber = Math.max(this.#notifiedNumber, lastNumber);
  }

  start(): void {
    if (this.#earlyEnd) this.#reportEnd(this.#earlyEnd);
    if (this.#phase !== 'opening') return;
    this.#phase = 'idle';
    this.#notifiedAt = undefined;
    this.#wake();
  }

  notify(number: number): void {
    if (number > this.#notifiedNumber) {
      this.#notifiedNumber = number;
      this.#notifiedAt ??= Date.now();
    }
    this.#wake();
  }

  moveTo(position: number): void {
    this.#position = position;
  }

  end(reason: StreamEnd): void {
    if (this.#phase === 'ended') return;
    const wasStarted = this.#phase !== 'opening';
    this.close();
    if (wasStarted) this.#reportEnd(reason);
    else this.#earlyEnd = reason;
  }

  /** Ends without calling the reader. */
  close(): void {
    if (this.#phase === 'ended') return;
    this.#phase = 'ended';
    this.#parts.onClose(this);
  }

  /** Why it ended before it was started, if it did. */
  endedEarly(): StreamEnd | undefined {
    return this.#earlyEnd;
  }

  /** Ends the stream if its token has expired. */
  hasEnded(): boolean {
    if (this.#phase === 'ended') return true;
    if (steadyNow() < this.actor.expires_at) return false;
    this.end('token_ended');
    return true;
  }

  #reportEnd(reason: StreamEnd): void {
    try {
      this.#reader.onEnded(reason);
    } catch (error) {
      this.#parts.log(`stream reader of ${this.actor.agent_id} failed to handle its end`, error);
    }
  }

  #wake(): void {
    if (this.#phase !== 'idle' || this.#notifiedNumber <= this.#position) return;
    this.#deliverPages().catch((error: unknown) => {
      if (this.#phase === 'ended') return;
      this.#parts.log(`stream of ${this.actor.agent_id} failed at position ${this.#position}`, error);
      this.end('failed');
    });
  }

  /** Delivers page after page until the reader is up to date. */
  async #deliverPages(): Promise<void> {
    const { pages, metrics, receipts } = this.#parts;
    const { agent_id } = this.actor;
    const reader = this.#reader;
    this.#phase = 'reading';
    let isBehind = true;
    /** Undefined until the first notification: what came before it is not measured. */
    let measuredFrom: number | undefined;
    let lane: Lane = this.#notifiedNumber > this.#position + livePageEvents ? 'replay' : 'live';
    while (isBehind) {
      const expected = this.#notifiedNumber;
      this.#notifiedNumber = 0;
      measuredFrom = this.#notifiedAt ?? measuredFrom;
      this.#notifiedAt = undefined;
      // A cached page is delivered without yielding to the event loop.
      const cached = lane === 'live' ? pages.readCached(agent_id, this.#position, expected) : undefined;
      const page = cached ?? (await readNextPage(this.#parts, this, { lane, expected }));
      if (!page || this.hasEnded()) return;
      const visible = page.events.filter((event) => this.#isVisible(event));
      const delivery = visible.length > 0 ? reader.deliver(visible) : undefined;
      if (delivery) await delivery;
      if (this.#isClosed()) return;
      if (reader.showsContent ?? true) receipts?.delivered(agent_id, visible);
      if (measuredFrom !== undefined && lane === 'live')
        metrics?.onWritten(reader.transport, visible, measuredFrom);
      if (this.hasEnded()) return;
      this.#position = page.position;
      lane = page.complete ? 'live' : 'replay';
      isBehind = !page.complete || this.#notifiedNumber > this.#position;
    }
    this.#phase = 'idle';
    this.#notifiedAt = undefined;
  }

  #isVisible(event: LiveEvent): boolean {
    return canSeeEvent(this.actor.scopes, event.type) && (this.#reader.wants?.(event) ?? true);
  }

  /** A method, because the phase changes while `#deliverPages` awaits and TypeScript keeps its narrowed type. */
  #isClosed(): boolean {
    return this.#phase === 'ended';
  }
}
