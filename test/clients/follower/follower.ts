import {
  type FeedTransport,
  transportOpeners,
  type OpenTransport,
  type FeedAccess,
  type PositionedEvent,
} from './transports.ts';
import { applyEvent } from './fold.ts';
import type { AgentState } from './state.ts';

/** One stay at a door: so many events are taken there at most. */
export interface TransportStay {
  transport: FeedTransport;
  eventCount: number;
}

/**
 * Folds a feed over a state from a cursor on, door after door: it leaves in the middle of what a door brings, and goes on at the next one
 * behind the last event that it took. At the last door it stays until the event for which `isLast` holds, and leaves it too.
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

  async function stay(door: OpenTransport, most: number): Promise<void> {
    for (let left = most; left > 0 && !over;) {
      for (const event of (await door.next()).slice(0, left)) {
        applyEvent(state, event);
        ids.push(event.id);
        ({ cursor } = event);
        left -= 1;
        over = isLast(event);
        // What came in one piece with it is behind the end.
        if (over) break;
      }
    }
  }

  for (let index = 0; !over; index = Math.min(index + 1, stays.length - 1)) {
    const { transport: name, eventCount } = stays[index] ?? { transport: 'longPoll', eventCount: Infinity };
    const door = await transportOpeners[name](place, cursor);
    try {
      await stay(door, index >= stays.length - 1 ? Infinity : eventCount);
    } finally {
      door.close();
    }
  }
  return ids;
}
