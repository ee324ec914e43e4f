import { expect, test } from 'vitest';
import { mapInTurns } from '../../../src/shared/map-in-turns.ts';

/** Keeps the event loop for so many milliseconds. */
function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** Counts turns of the event loop until it is stopped. */
function countTurns() {
  const counted = { turns: 0 };
  let next = setImmediate(count);
  function count(): void {
    counted.turns += 1;
    next = setImmediate(count);
  }
  return { counted, stop: () => clearImmediate(next) };
}

test('maps in order', async () => {
  expect(await mapInTurns([3, 1, 2], (item) => item * 2)).toEqual([6, 2, 4]);
  expect(await mapInTurns([], () => 1)).toEqual([]);
});

test('gives the event loop a turn after each 10 ms of work, also with several callers', async () => {
  const { counted, stop } = countTurns();
  const turnOfItem: number[] = [];
  const slow = () => {
    turnOfItem.push(counted.turns);
    work(11);
  };
  await Promise.all([1, 2, 3].map(() => mapInTurns([1, 2, 3, 4], slow)));
  stop();
  // Every item took longer than a slice, so no two of them share a turn.
  expect(new Set(turnOfItem).size).toBe(12);
});

test('processes many short items in one turn, and continues after one that fails', async () => {
  const { counted, stop } = countTurns();
  const failed = mapInTurns([1], () => {
    throw new Error('no such item');
  });
  await expect(failed).rejects.toThrow('no such item');
  const before = counted.turns;
  await mapInTurns(
    Array.from({ length: 100 }, (_, index) => index),
    (item) => item,
  );
  stop();
  expect(counted.turns - before).toBeLessThan(10);
});
