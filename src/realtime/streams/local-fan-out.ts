import type { StreamRegistry } from './registry.ts';
import type { Realtime } from '../contract.ts';
import type { EventStore } from '../feed/event-store.ts';
import type { RecentEntries } from '../feed/recent-entries.ts';
import type { createFeedStatus } from '../feed/status.ts';

export interface LocalFanOutParts {
  registry: Pick<StreamRegistry, 'has' | 'notifySoon'>;
  store: Pick<EventStore, 'put' | 'forgetMessage'>;
  recent: Pick<RecentEntries, 'add'>;
  status: Pick<ReturnType<typeof createFeedStatus>, 'add'>;
  log(message: string, error: unknown): void;
}

type Commit = Parameters<Realtime['fanOut']>[0];

/**
 * Passes commits of this process, and those that other processes relay, to the readers of this process without a query. Events and entries
 * are cached at once: the wake-up of the bus may come in the same iteration of the event loop, and would send the readers to the database. Readers are
 * notified after the responses of the requests that committed. The bus also notifies them of anything that is lost here.
 */
export function createLocalFanOut({
  registry,
  store,
  recent,
  status,
  log,
}: LocalFanOutParts): Realtime['fanOut'] {
  function cacheAndNotify({ entries, events }: Commit): void {
    status.add({ entries, events });
    for (const { type, data, message } of events) {
      if (type === 'message.withdrawn') store.forgetMessage((data as { message_id: string }).message_id);
      if (message?.replaces) store.forgetMessage(message.replaces);
    }
    const localEntries = entries.filter(({ agent_id }) => registry.has(agent_id));
    if (localEntries.length === 0) return;
    const eventIds = new Set(localEntries.map(({ event_id }) => event_id));
    for (const event of events) if (eventIds.has(event.id)) store.put(event);
    for (const entry of localEntries) {
      recent.add(entry);
      registry.notifySoon(entry.agent_id, entry.number);
    }
  }

  return (commit) => {
    try {
      cacheAndNotify(commit);
    } catch (error) {
      log('local fan-out failed; readers are notified through the bus', error);
    }
  };
}
