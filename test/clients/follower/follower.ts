import {
  type FeedTransport,
  transportOpeners,
  type OpenTransport,
  type FeedAccess,
  type PositionedEvent,
} from './transports.ts';
import { applyEvent } from './fold.ts';
import type { AgentState } from './state.ts';

/** One connection: at maxEvents `eventCount` events are read over this transport. */
export interface TransportStay {
  transport: FeedTransport;
  eventCount: number;
}

/**
 * Folds a feed over a state from a cursor on, over several transports. It leaves each one after some events and resumes on the next
 * after the last event. On the last transport it stays until the event for which `isLast` is true.
 * @returns the ids of all events, in order.
 */
export async function followAcrossTransports(
  place: FeedAccess,
  state: AgentState,
  from: string,
  stays: readonly TransportStay[],
  isLast: (event: PositionedEvent) => boolean,
): Promise<string[]> {
  const ids: string[] = [];
  let cursor = from;
  let over = false;

  async function stay(connection: OpenTransport, maxEvents: number): Promise<void> {
    for (let left = maxEvents; left > 0 && !over;) {
      for (const event of (await connection.next()).slice(0, left)) {
        applyEvent(state, event);
        ids.push(event.id);
        ({ cursor } = event);
        left -= 1;
        over = isLast(event);
        // The rest of the page is after the end.
        if (over) break;
      }
    }
  }

  for (let index = 0; !over; index = Math.min(index + 1, stays.length - 1)) {
    const { transport: name, eventCount } = stays[index] ?? { transport: 'longPoll', eventCount: Infinity };
    const connection = await transportOpeners[name](place, cursor);
    try {
      await stay(connection, index >= stays.length - 1 ? Infinity : eventCount);
    } finally {
      connection.close();
    }
  }
  return ids;
}
