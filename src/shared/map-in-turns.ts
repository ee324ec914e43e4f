import { setImmediate as nextLoopTurn } from 'node:timers/promises';

/** Milliseconds of work in one turn of the event loop. */
const sliceMs = 10;

let lastTurn: Promise<void> = Promise.resolve();

/** Resolves in a turn of the event loop that no other caller has: calls at the same time do not add up to one long turn. */
function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => nextLoopTurn());
  return lastTurn;
}

/**
 * Maps as `Array.map` does, for a function that takes long: after about 10 ms of work, other work of the process comes first.
 * One item is never interrupted. Callers at the same time take turns.
 */
export async function mapInTurns<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let sliceEnd = 0;
  for (const item of items) {
    if (performance.now() >= sliceEnd) {
      await ownTurn();
      sliceEnd = performance.now() + sliceMs;
    }
    results.push(map(item));
  }
  return results;
}
