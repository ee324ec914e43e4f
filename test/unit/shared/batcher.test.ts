import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type BatchItem, createBatcher } from '../../../src/shared/batcher.ts';

interface Journey {
  batch: readonly BatchItem<string>[];
  /** Frees its lane. */
  arrive(): void;
}

function createTestBatcher({ lanes = 1, most = 10 } = {}) {
  const journeys: Journey[] = [];
  const timedOut: string[] = [];
  const take = createBatcher<string>({
    maxConcurrent: lanes,
    maxBatchSize: most,
    timeoutMs: 1_000,
    keyOf: (item) => (item.startsWith('-') ? undefined : item.slice(0, 1)),
    run: (batch) => new Promise((resolve) => journeys.push({ batch, arrive: resolve })),
  });
  const left = () => journeys.map(({ batch }) => batch.map(({ item }) => item));
  return { take: (item: string) => take(item, () => timedOut.push(item)), journeys, left, timedOut };
}

test('items of one turn form a batch, and later items form the next one when a lane is free', async () => {
  const { take, journeys, left } = createTestBatcher();
  take('a1');
  take('b1');
  await turn();
  expect(left()).toEqual([['a1', 'b1']]);
  take('c1');
  take('d1');
  await turn();
  expect(left()).toHaveLength(1);
  journeys[0]?.arrive();
  await vi.waitFor(() => expect(left()[1]).toEqual(['c1', 'd1']));
});

test('a key has one batch at a time, and delays no other key', async () => {
  const { take, journeys, left } = createTestBatcher({ lanes: 2 });
  take('a1');
  await turn();
  take('a2');
  take('-');
  await turn();
  expect(left()).toEqual([['a1'], ['-']]);
  journeys[0]?.arrive();
  await turn();
  expect(left()).toHaveLength(2);
  for (const { settle } of journeys[0]?.batch ?? []) settle();
  await vi.waitFor(() => expect(left()[2]).toEqual(['a2']));
});

test('a batch has at most the maximum size, and keeps the order', async () => {
  const { take, journeys, left } = createTestBatcher({ most: 2 });
  for (const item of ['a1', 'b1', 'c1']) take(item);
  await turn();
  expect(left()).toEqual([['a1', 'b1']]);
  journeys[0]?.arrive();
  await vi.waitFor(() => expect(left()[1]).toEqual(['c1']));
});

test('an item that waits too long is rejected, and is in no later batch', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { take, journeys, left, timedOut } = createTestBatcher();
  take('a1');
  await turn();
  take('b1');
  vi.advanceTimersByTime(1_000);
  expect(timedOut).toEqual(['b1']);
  journeys[0]?.arrive();
  await turn();
  await turn();
  expect(left()).toEqual([['a1']]);
});
