import { waitUntil } from '../../src/shared/wait-until.ts';

const timeoutMs = 5_000;

/** Records items in the order in which they arrive. */
export function createArrivals<T>() {
  const items: { item: T; at: number }[] = [];
  return {
    list: (): T[] => items.map(({ item }) => item),
    add: (item: T): void => void items.push({ item, at: performance.now() }),
    /** The first item that matches, and when it arrived. Waits up to five seconds. */
    async first(what: string, matches: (item: T) => boolean): Promise<{ item: T; at: number }> {
      const find = () => items.find(({ item }) => matches(item));
      await waitUntil(() => find() !== undefined, { timeoutMs });
      const found = find();
      if (!found) throw new Error(`${what} did not arrive within ${timeoutMs / 1_000} s`);
      return found;
    },
  };
}

export type Arrivals<T> = ReturnType<typeof createArrivals<T>>;
