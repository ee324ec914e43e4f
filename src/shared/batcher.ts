export interface BatcherOptions<Item> {
  /** Batches under way at once, at most. */
  maxConcurrent: number;
  /** Items in a batch, at most. */
  maxBatchSize: number;
  /** Milliseconds that an item waits for its batch, at most. */
  timeoutMs: number;
  /** Undefined where it is none. Items of one place share a batch or follow one another; none of them leaves while others of its place are under way. */
  keyOf(item: Item): string | undefined;
  /** Sets a batch on its way; resolves when its lane is free again, and never rejects. Each item is told of its end by itself. */
  run(batch: readonly BatchItem<Item>[]): Promise<void>;
}

export interface BatchItem<Item> {
  item: Item;
  /** Lets others of its place leave. To be called once, when it is settled. */
  settle(): void;
}

/**
 * Has items travel together without a timer: what comes while nothing is under way leaves within the same turn of the event loop,
 * and what comes meanwhile leaves together as soon as a lane is free.
 * @returns takes an item; `tired` is called instead of `depart` when it has waited too long.
 */
export function createBatcher<Item>(options: BatcherOptions<Item>): (item: Item, tired: () => void) => void {
  const { maxConcurrent, maxBatchSize, timeoutMs, keyOf, run } = options;
  /** Items that wait, in the order in which they came, each with its timer. */
  const waiting = new Map<Item, NodeJS.Timeout>();
  /** How many items of a place are under way. */
  const busy = new Map<string, number>();
  let underWay = 0;
  let scheduled = false;

  function schedule(): void {
    if (scheduled || waiting.size === 0 || underWay >= maxConcurrent) return;
    scheduled = true;
    setImmediate(leave);
  }

  function leave(): void {
    scheduled = false;
    while (underWay < maxConcurrent) {
      const batch = nextBatch();
      if (batch.length === 0) return;
      underWay += 1;
      void run(batch).finally(() => {
        underWay -= 1;
        schedule();
      });
    }
  }

  function nextBatch(): BatchItem<Item>[] {
    const items: Item[] = [];
    for (const item of waiting.keys()) {
      if (items.length === maxBatchSize) break;
      const place = keyOf(item);
      if (place === undefined || !busy.has(place)) items.push(item);
    }
    return items.map((item) => {
      clearTimeout(waiting.get(item));
      waiting.delete(item);
      const place = keyOf(item);
      if (place !== undefined) busy.set(place, (busy.get(place) ?? 0) + 1);
      return { item, settle: () => settle(place) };
    });
  }

  function settle(place: string | undefined): void {
    if (place === undefined) return;
    const left = (busy.get(place) ?? 1) - 1;
    if (left > 0) busy.set(place, left);
    else busy.delete(place);
    schedule();
  }

  return (item, tired) => {
    const giveUp = () => {
      waiting.delete(item);
      tired();
    };
    waiting.set(item, setTimeout(giveUp, timeoutMs));
    schedule();
  };
}
