import type { Actor } from '../../domain/auth/actor.ts';
import { canSeeEvent } from '../../domain/feed/events.ts';
import type { Listener } from './registry.ts';
import type { LiveEvent, StreamEnd, StreamMetrics, StreamReader } from '../contract.ts';
import { type Lane, livePageEvents, type Pages } from '../feed/pages.ts';
import type { FeedBounds } from '../feed/start-position.ts';
import { createNextPage } from './next-page.ts';

export interface Stream extends Listener {
  /** Sets the position to start from, and the number of the last entry of the feed at that moment. */
  setStart(position: number, lastNumber: number): void;
  start(): void;
  /** Ends without calling the reader. */
  close(): void;
  /** Why it ended before it was started, if it did. */
  endedEarly(): StreamEnd | undefined;
}

export interface StreamParts {
  actor: Actor;
  reader: StreamReader;
  pages: Pages;
  bounds(agentId: string): Promise<FeedBounds>;
  /** Called with the events that the reader has received. */
  onDelivered(events: readonly LiveEvent[]): void;
  metrics?: StreamMetrics | undefined;
  log(message: string, error: unknown): void;
  /** Called once, when the stream has ended. */
  onClose(stream: Stream): void;
}

export interface StreamState {
  phase: 'opening' | 'idle' | 'reading' | 'ended';
  /** Number of the last entry that was delivered or skipped. */
  position: number;
  /** Largest entry number announced since the last read began. */
  notifiedNumber: number;
  /** When it was first announced, in epoch milliseconds; undefined when that was before the stream was up to date. */
  notifiedAt: number | undefined;
}

/**
 * Delivers one agent's feed to one reader. It reads the next page only after the last one was delivered, so a slow reader
 * does not delay others. It always reads after its own position, so a late, duplicated or wrong notification costs at most a query.
 */
export function createStream(parts: StreamParts): Stream {
  const { actor, reader, log } = parts;
  const state: StreamState = { phase: 'opening', position: 0, notifiedNumber: 0, notifiedAt: undefined };
  let earlyEnd: StreamEnd | undefined;

  const stream: Stream = {
    actor,
    transport: reader.transport,
    position: () => state.position,
    setStart(position, lastNumber) {
      state.position = position;
      state.notifiedNumber = Math.max(state.notifiedNumber, lastNumber);
    },
    start() {
      if (earlyEnd) reportEnd(earlyEnd);
      if (state.phase !== 'opening') return;
      state.phase = 'idle';
      state.notifiedAt = undefined;
      wake();
    },
    notify(number) {
      if (number > state.notifiedNumber) {
        state.notifiedNumber = number;
        state.notifiedAt ??= Date.now();
      }
      wake();
    },
    end(reason) {
      if (state.phase === 'ended') return;
      const wasStarted = state.phase !== 'opening';
      stream.close();
      if (wasStarted) reportEnd(reason);
      else earlyEnd = reason;
    },
    close() {
      if (state.phase === 'ended') return;
      state.phase = 'ended';
      parts.onClose(stream);
    },
    endedEarly: () => earlyEnd,
  };
  const deliverPages = createDelivery(parts, state, stream);

  function reportEnd(reason: StreamEnd): void {
    try {
      reader.onEnded(reason);
    } catch (error) {
      log(`stream reader of ${actor.agent_id} failed to handle its end`, error);
    }
  }

  function wake(): void {
    if (state.phase !== 'idle' || state.notifiedNumber <= state.position) return;
    deliverPages().catch((error: unknown) => {
      if (state.phase === 'ended') return;
      log(`stream of ${actor.agent_id} failed at position ${state.position}`, error);
      stream.end('failed');
    });
  }

  return stream;
}

/** Returns a function that delivers page after page until the reader is up to date. */
function createDelivery(parts: StreamParts, state: StreamState, stream: Stream): () => Promise<void> {
  const { actor, reader, pages, metrics, onDelivered } = parts;
  const nextPage = createNextPage(
    {
      agent_id: actor.agent_id,
      pages,
      bounds: parts.bounds,
      log: parts.log,
      hasEnded,
      onExpired: () => stream.end('position_expired'),
    },
    state,
  );

  function hasEnded(): boolean {
    if (state.phase === 'ended') return true;
    if (Date.now() < actor.expires_at) return false;
    stream.end('token_ended');
    return true;
  }

  function isVisible(event: LiveEvent): boolean {
    return canSeeEvent(actor.scopes, event.type) && (reader.wants?.(event) ?? true);
  }

  return async function deliverPages() {
    state.phase = 'reading';
    let isBehind = true;
    /** Undefined until the first notification: what came before it is not measured. */
    let measuredFrom: number | undefined;
    let lane: Lane = state.notifiedNumber > state.position + livePageEvents ? 'replay' : 'live';
    while (isBehind) {
      const expected = state.notifiedNumber;
      state.notifiedNumber = 0;
      measuredFrom = state.notifiedAt ?? measuredFrom;
      state.notifiedAt = undefined;
      // A cached page is delivered without yielding to the event loop.
      const cached = lane === 'live' ? pages.readCached(actor.agent_id, state.position, expected) : undefined;
      const page = cached ?? (await nextPage(lane, expected));
      if (!page || hasEnded()) return;
      const visible = page.events.filter(isVisible);
      const delivery = visible.length > 0 ? reader.deliver(visible) : undefined;
      if (delivery) await delivery;
      if (isEnded(state)) return;
      onDelivered(visible);
      if (measuredFrom !== undefined && lane === 'live')
        metrics?.onWritten(reader.transport, visible, measuredFrom);
      if (hasEnded()) return;
      state.position = page.position;
      lane = page.complete ? 'live' : 'replay';
      isBehind = !page.complete || state.notifiedNumber > state.position;
    }
    state.phase = 'idle';
    state.notifiedAt = undefined;
  };
}

/** A function, because the phase changes while the caller awaits and TypeScript keeps its narrowed type. */
function isEnded({ phase }: StreamState): boolean {
  return phase === 'ended';
}
