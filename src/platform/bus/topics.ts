import type { Bus, BusHandler } from './bus.ts';
import type { ErrorLog } from '../../shared/error-log.ts';

/** The handlers of this process by topic; both adapters dispatch through it. */
export interface TopicTable extends Pick<Bus, 'subscribe'> {
  /** Calls the handlers in the order they were added. A handler that throws is logged and does not affect the others. */
  dispatch(topic: string, body: string): void;
}

/** An empty table; `log` receives errors of handlers. */
export function createTopicTable(log: ErrorLog): TopicTable {
  const table = new Map<string, Set<{ handler: BusHandler }>>();
  return {
    subscribe(topic, handler) {
      const entry = { handler };
      const entries = table.get(topic) ?? new Set();
      table.set(topic, entries.add(entry));
      return () => {
        if (entries.delete(entry) && entries.size === 0) table.delete(topic);
      };
    },
    dispatch(topic, body) {
      const listeners = Array.from(table.get(topic) ?? []);
      for (const { handler } of listeners) {
        try {
          handler(body, topic);
        } catch (error) {
          log('a bus handler failed', error);
        }
      }
    },
  };
}
