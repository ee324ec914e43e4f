import type { StreamRegistry } from './registry.ts';
import type { Realtime } from '../contract.ts';
import type { EventStore } from '../feed/event-store.ts';
import type { RecentEntries } from '../feed/recent-entries.ts';

export interface LocalFanOutParts {
  channels: Pick<StreamRegistry, 'has' | 'notifySoon'>;
  store: Pick<EventStore, 'put'>;
  recent: Pick<RecentEntries, 'add'>;
  log(message: string, error: unknown): void;
}

type Committed = Parameters<Realtime['fanOut']>[0];

/**
 * Brings what this process committed to those who listen here, past the bus and the database. What is committed is at hand at once:
 * the ring of the bus may come within the same turn of the event loop, and would send its readers to the database. They are rung behind the
 * answers of the calls that committed it. What is lost here, the ring of the bus makes good.
 */
export function createLocalFanOut({ channels, store, recent, log }: LocalFanOutParts): Realtime['fanOut'] {
  function take({ entries, events }: Committed): void {
    const here = entries.filter(({ agent_id }) => channels.has(agent_id));
    if (here.length === 0) return;
    const wanted = new Set(here.map(({ event_id }) => event_id));
    for (const event of events) if (wanted.has(event.id)) store.put(event);
    for (const line of here) {
      recent.add(line);
      channels.notifySoon(line.agent_id, line.number);
    }
  }

  return (news) => {
    try {
      take(news);
    } catch (error) {
      log('what was committed here was not handed over; the bus rings for it', error);
    }
  };
}
