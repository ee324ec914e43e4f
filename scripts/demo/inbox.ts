import { performance } from 'node:perf_hooks';

const timeoutMs = 5_000;

export interface ReceivedItem<T> {
  item: T;
  /** On the clock of performance.now(). */
  receivedAt: number;
}

/** Records arriving items in order with their times, and waits for items. */
export function createInbox<T>() {
  const arrivals: ReceivedItem<T>[] = [];
  const watchers = new Set<() => void>();

  return {
    arrivals: arrivals as readonly ReceivedItem<T>[],
    put(item: T): void {
      arrivals.push({ item, receivedAt: performance.now() });
      for (const watcher of watchers) watcher();
    },
    /** The first item that matches, now or within five seconds. */
    first(what: string, matches: (item: T) => boolean): Promise<ReceivedItem<T>> {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          watchers.delete(check);
          reject(new Error(`${what} did not arrive within ${timeoutMs / 1000} s`));
        }, timeoutMs);
        function check(): void {
          const found = arrivals.find(({ item }) => matches(item));
          if (!found) return;
          clearTimeout(timer);
          watchers.delete(check);
          resolve(found);
        }
        watchers.add(check);
        check();
      });
    },
  };
}

export type Inbox<T> = ReturnType<typeof createInbox<T>>;
