export interface BatcherOptions<Item> {
  /** Batches that run at the same time. */
  maxConcurrent: number;
  maxBatchSize: number;
  /** How long an item waits for its batch. Default: no limit. */
  timeoutMs?: number;
  /**
   * Items with the same key run in one batch or one after the other: an item waits while others of its key are not settled.
   * Undefined for an item without such a restriction.
   */
  keyOf?(item: Item): string | undefined;
  /** Runs a batch and resolves when the next one can start. Never rejects: it reports the result of each item itself. */
  run(batch: readonly BatchItem<Item>[]): Promise<void>;
}

export interface BatchItem<Item> {
  item: Item;
  /** Releases the key of the item. To be called once. */
  settle(): void;
}

/**
 * Groups items into batches: items that arrive in the same iteration of the event loop share a batch, and items that arrive while
 * `maxConcurrent` batches run share the next one.
 * @returns adds an item; `onTimeout` is called instead of `run` when the item has waited too long.
 */
export function createBatcher<Item>(
  options: BatcherOptions<Item>,
): (item: Item, onTimeout?: () => void) => void {
  const { maxConcurrent, maxBatchSize, timeoutMs, keyOf, run } = options;
  /** Waiting items in the order of their arrival, each with its timer. */
  const waiting = new Map<Item, NodeJS.Timeout | undefined>();
  /** Unsettled items of each key. */
  const unsettled = new Map<string, number>();
  let running = 0;
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || waiting.size === 0 || running >= maxConcurrent) return;
    isScheduled = true;
    setImmediate(runBatches);
  }

  function runBatches(): void {
    isScheduled = false;
    const batch = nextBatch();
    if (batch.length === 0) return;
    running += 1;
    void run(batch).finally(() => {
      running -= 1;
      schedule();
    });
    schedule();
  }

  function nextBatch(): BatchItem<Item>[] {
    const batch: { item: Item; key: string | undefined }[] = [];
    for (const item of waiting.keys()) {
      if (batch.length === maxBatchSize) break;
      const key = keyOf?.(item);
      if (key === undefined || !unsettled.has(key)) batch.push({ item, key });
    }
    return batch.map(({ item, key }) => {
      clearTimeout(waiting.get(item));
      waiting.delete(item);
      if (key !== undefined) unsettled.set(key, (unsettled.get(key) ?? 0) + 1);
      return { item, settle: () => settle(key) };
    });
  }

  function settle(key: string | undefined): void {
    if (key === undefined) return;
    const left = (unsettled.get(key) ?? 1) - 1;
    if (left > 0) unsettled.set(key, left);
    else unsettled.delete(key);
    schedule();
  }

  return (item, onTimeout) => {
    const giveUp = () => {
      waiting.delete(item);
      onTimeout?.();
    };
    waiting.set(item, timeoutMs === undefined ? undefined : setTimeout(giveUp, timeoutMs));
    schedule();
  };
}
