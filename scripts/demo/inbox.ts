import { performance } from 'node:perf_hooks';

const patience_ms = 5_000;

export interface Arrival<T> {
  item: T;
  /** On the clock of performance.now(). */
  at: number;
}

/** What arrives at a receiver, in order, each with its time; and a way to wait for more. */
export function createInbox<T>() {
  const arrivals: Arrival<T>[] = [];
  const watchers = new Set<() => void>();

  return {
    arrivals: arrivals as readonly Arrival<T>[],
    put(item: T): void {
      arrivals.push({ item, at: performance.now() });
      for (const watcher of watchers) watcher();
    },
    /** The first arrival that fits, now or within five seconds. */
    first(what: string, fits: (item: T) => boolean): Promise<Arrival<T>> {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          watchers.delete(look);
          reject(new Error(`${what} did not arrive within ${patience_ms / 1000} s`));
        }, patience_ms);
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
