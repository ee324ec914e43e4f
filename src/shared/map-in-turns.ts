import { setImmediate as nextLoopTurn } from 'node:timers/promises';

/** Milliseconds of work in one iteration of the event loop. */
const sliceMs = 10;

let lastTurn: Promise<void> = Promise.resolve();

/** Resolves in an iteration of the event loop that no other caller gets, so that concurrent calls do not add up to one long iteration. */
export function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => nextLoopTurn());
  return lastTurn;
}

/**
 * Maps like `Array.map`, for slow functions: after about 10 ms it yields to other work of the process. One item is never interrupted.
 * Concurrent callers alternate.
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
