import { type FeedDoor, openDoors, type OpenDoor, type Place, type PlacedEvent } from './doors.ts';
import { fold } from './fold.ts';
import type { State } from './state.ts';

/** One stay at a door: so many events are taken there at most. */
export interface Stay {
  door: FeedDoor;
  take: number;
}

/**
 * Folds a feed over a state from a cursor on, door after door: it leaves in the middle of what a door brings, and goes on at the next one
 * behind the last event that it took. At the last door it stays until the event for which `isLast` holds, and leaves it too.
 * @returns the ids of all events, in order.
 */
export async function follow(
  place: Place,
  state: State,
  from: string,
  stays: readonly Stay[],
  isLast: (event: PlacedEvent) => boolean,
): Promise<string[]> {
  const ids: string[] = [];
  let cursor = from;
  let over = false;

  async function stay(door: OpenDoor, most: number): Promise<void> {
    for (let left = most; left > 0 && !over;) {
      for (const event of (await door.next()).slice(0, left)) {
        fold(state, event);
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
    const { door: name, take } = stays[index] ?? { door: 'longPoll', take: Infinity };
    const door = await openDoors[name](place, cursor);
    try {
      await stay(door, index >= stays.length - 1 ? Infinity : take);
    } finally {
      door.leave();
    }
  }
  return ids;
}
