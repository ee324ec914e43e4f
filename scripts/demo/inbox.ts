import { performance } from 'node:perf_hooks';

const timeoutMs = 5_000;

export interface ReceivedItem<T> {
  item: T;
  /** On the clock of performance.now(). */
  receivedAt: number;
}

/** What arrives at a receiver, in order, each with its time; and a way to wait for more. */
export function createInbox<T>() {
  const arrivals: ReceivedItem<T>[] = [];
  const watchers = new Set<() => void>();

  return {
    arrivals: arrivals as readonly ReceivedItem<T>[],
    put(item: T): void {
      arrivals.push({ item, receivedAt: performance.now() });
      for (const watcher of watchers) watcher();
    },
    /** The first arrival that fits, now or within five seconds. */
    first(what: string, fits: (item: T) => boolean): Promise<ReceivedItem<T>> {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          watchers.delete(look);
          reject(new Error(`${what} did not arrive within ${timeoutMs / 1000} s`));
        }, timeoutMs);
        function look(): void {
          const found = arrivals.find(({ item }) => fits(item));
          if (!found) return;
          clearTimeout(timer);
          watchers.delete(look);
          resolve(found);
        }
        watchers.add(look);
        look();
      });
    },
  };
}

export type Inbox<T> = ReturnType<typeof createInbox<T>>;
