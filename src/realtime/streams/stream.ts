import { setTimeout as pause } from 'node:timers/promises';
import type { Actor } from '../../domain/auth/actor.ts';
import { canSeeEvent } from '../../domain/feed/events.ts';
import type { Listener } from './registry.ts';
import type { LiveEvent, StreamEnd, StreamMetrics, StreamReader } from '../contract.ts';
import { type FeedPage, type Lane, livePageEvents, type Pages, UnreadableFeed } from '../feed/pages.ts';
import { type FeedBounds, startPosition } from '../feed/start-position.ts';

export interface Stream extends Listener {
  /** Sets where it starts, once that is known, and the end of the feed at that moment. */
  setStart(position: number, last: number): void;
  start(): void;
  /** Ends without telling the reader. */
  close(): void;
  /** Why it ended before the reader was told of anything. */
  endedEarly(): StreamEnd | undefined;
}

export interface StreamParts {
  actor: Actor;
  reader: StreamReader;
  pages: Pages;
  bounds(agentId: string): Promise<FeedBounds>;
  /** Told of what the reader has taken. */
  onDelivered(events: readonly LiveEvent[]): void;
  metrics?: StreamMetrics | undefined;
  log(message: string, error: unknown): void;
  /** Called once, when the stream takes no more part. */
  onClose(stream: Stream): void;
}

/** Longest wait between two tries while the database is away, in milliseconds. */
const maxPauseMs = 2_000;

/**
 * One reader's way through a feed. It asks for a page only when the last one is delivered, so a slow reader holds up itself and
 * nobody else; and it asks from its own position, so a ring that is late, doubled or wrong costs a query and nothing more.
 */
export function createStream(parts: StreamParts): Stream {
  const { actor, reader, pages, bounds, log, onClose } = parts;
  let position = 0;
  /** Largest number heard of since the last read began. */
  let heard = 0;
  /** When it was heard of, if by a ring. */
  let rung: number | undefined;
  let state: 'opening' | 'idle' | 'reading' | 'over' = 'opening';
  let early: StreamEnd | undefined;

  function over(): boolean {
    if (state === 'over') return true;
    if (Date.now() < actor.expires_at) return false;
    stream.end('token_ended');
    return true;
  }

  function closed(): boolean {
    return state === 'over';
  }

  function shows(event: LiveEvent): boolean {
    return canSeeEvent(actor.scopes, event.type) && (reader.wants?.(event) ?? true);
  }

  async function run(): Promise<void> {
    state = 'reading';
    let behind = true;
    /** What comes before the first ring is old news. */
    let since: number | undefined;
    let lane: Lane = heard > position + livePageEvents ? 'replay' : 'live';
    while (behind) {
      const expected = heard;
      heard = 0;
      since = rung ?? since;
      rung = undefined;
      // What is at hand is passed on within the same turn of the event loop.
      const handed = lane === 'live' ? pages.readCached(actor.agent_id, position, expected) : undefined;
      const page = handed ?? (await nextPage(lane, expected));
      if (!page || over()) return;
      const visible = page.events.filter(shows);
      const taking = visible.length > 0 ? reader.deliver(visible) : undefined;
      if (taking) await taking;
      if (closed()) return;
      parts.onDelivered(visible);
      if (since !== undefined && lane === 'live') parts.metrics?.onWritten(reader.transport, visible, since);
      if (over()) return;
      position = page.position;
      lane = page.complete ? 'live' : 'replay';
      behind = !page.complete || heard > position;
    }
    state = 'idle';
    rung = undefined;
  }

  /**
   * The page does not begin at the position, or nothing lies behind it though something was heard of. Either the front of the feed
   * has left, or there never was more, or the database was restored and goes on elsewhere: undefined, and the stream has ended or
   * stands there.
   * @throws {UnreadableFeed} when a piece is missing behind what is kept.
   */
  async function checked(page: FeedPage): Promise<FeedPage | undefined> {
    const now = startPosition(await bounds(actor.agent_id), position);
    if (now.gap) {
      const agent = actor.agent_id;
      log(`a stream of ${agent} stood at ${position}, and what followed is no longer kept`, undefined);
      stream.end('overtaken');
      return undefined;
    }
    if (now.position !== position) {
      position = now.position;
      return undefined;
    }
    if (page.after !== position) throw new UnreadableFeed(`entries after ${position} are missing`);
    return page;
  }

  async function nextPage(lane: Lane, expected: number): Promise<FeedPage | undefined> {
    for (let longest = 100; !over(); longest = Math.min(2 * longest, maxPauseMs)) {
      try {
        const page = await pages.read(actor.agent_id, position, lane);
        const sound = page.events.length > 0 ? page.after === position : expected <= position;
        const usable = sound ? page : await checked(page);
        if (usable) return usable;
      } catch (error) {
        if (error instanceof UnreadableFeed) throw error;
        // The database is away. Readers come back spread out, not all at once.
        await pause(longest * (0.5 + Math.random() / 2), undefined, { ref: false });
      }
    }
    return undefined;
  }

  function tell(reason: StreamEnd): void {
    try {
      reader.onEnded(reason);
    } catch (error) {
      log(`a reader of ${actor.agent_id} failed at its end`, error);
    }
  }

  function wake(): void {
    if (state !== 'idle' || heard <= position) return;
    run().catch((error: unknown) => {
      if (state === 'over') return;
      log(`a stream of ${actor.agent_id} stopped at ${position}`, error);
      stream.end('failed');
    });
  }

  const stream: Stream = {
    actor,
    transport: reader.transport,
    position: () => position,
    setStart(start, last) {
      position = start;
      heard = Math.max(heard, last);
    },
    start() {
      if (early) tell(early);
      if (state !== 'opening') return;
      state = 'idle';
      rung = undefined;
      wake();
    },
    notify(number) {
      if (number > heard) {
        heard = number;
        rung ??= Date.now();
      }
      wake();
    },
    end(reason) {
      if (state === 'over') return;
      const begun = state !== 'opening';
      stream.close();
      if (begun) tell(reason);
      else early = reason;
    },
    close() {
      if (state === 'over') return;
      state = 'over';
      onClose(stream);
    },
    endedEarly: () => early,
  };
  return stream;
}
