export interface GatheringOptions<Item> {
  /** Batches under way at once, at most. */
  lanes: number;
  /** Items in a batch, at most. */
  most: number;
  /** Milliseconds that an item waits for its batch, at most. */
  patience: number;
  /** Undefined where it is none. Items of one place share a batch or follow one another; none of them leaves while others of its place are under way. */
  placeOf(item: Item): string | undefined;
  /** Sets a batch on its way; resolves when its lane is free again, and never rejects. Each item is told of its end by itself. */
  depart(batch: readonly Gathered<Item>[]): Promise<void>;
}

export interface Gathered<Item> {
  item: Item;
  /** Lets others of its place leave. To be called once, when it is settled. */
  settled(): void;
}

/**
 * Has items travel together without a timer: what comes while nothing is under way leaves within the same turn of the event loop,
 * and what comes meanwhile leaves together as soon as a lane is free.
 * @returns takes an item; `tired` is called instead of `depart` when it has waited too long.
 */
export function gathering<Item>(options: GatheringOptions<Item>): (item: Item, tired: () => void) => void {
  const { lanes, most, patience, placeOf, depart } = options;
  /** Items that wait, in the order in which they came, each with its timer. */
  const waiting = new Map<Item, NodeJS.Timeout>();
  /** How many items of a place are under way. */
  const busy = new Map<string, number>();
  let underWay = 0;
  let scheduled = false;

  function schedule(): void {
    if (scheduled || waiting.size === 0 || underWay >= lanes) return;
    scheduled = true;
    setImmediate(leave);
  }

  function leave(): void {
    scheduled = false;
    while (underWay < lanes) {
      const batch = nextBatch();
      if (batch.length === 0) return;
      underWay += 1;
      void depart(batch).finally(() => {
        underWay -= 1;
        schedule();
      });
    }
  }

  function nextBatch(): Gathered<Item>[] {
    const items: Item[] = [];
    for (const item of waiting.keys()) {
      if (items.length === most) break;
      const place = placeOf(item);
      if (place === undefined || !busy.has(place)) items.push(item);
    }
    return items.map((item) => {
      clearTimeout(waiting.get(item));
      waiting.delete(item);
      const place = placeOf(item);
      if (place !== undefined) busy.set(place, (busy.get(place) ?? 0) + 1);
      return { item, settled: () => settle(place) };
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
    waiting.set(item, setTimeout(giveUp, patience));
    schedule();
  };
}
