import { beforeEach, expect, test, vi } from 'vitest';
import type { Counts } from '../../../packages/client/src/cli/wake/counts.ts';
import { describeCounts } from '../../../packages/client/src/cli/wake/counts.ts';
import { createWaker } from '../../../packages/client/src/cli/wake/waker.ts';
import { useFakeTimers } from '../../support/fake-timers.ts';

beforeEach(useFakeTimers);

const one: Counts = { messages: 1, threads: 1, requests: 0 };

function start(counts: Counts = one) {
  const state = { counts, wakes: 0, errors: [] as unknown[] };
  const ends: (() => void)[] = [];
  const waker = createWaker({
    gatherMs: 500,
    maxGatherMs: 10_000,
    count: async () => state.counts,
    wake: () =>
      new Promise<void>((resolve) => {
        state.wakes += 1;
        ends.push(resolve);
      }),
    onError: (error) => void state.errors.push(error),
  });
  return { waker, state, end: () => ends.shift()?.() };
}

test('messages that arrive together cause one wake', async () => {
  const { waker, state } = start();
  for (let count = 0; count < 5; count += 1) {
    waker.notify();
    await vi.advanceTimersByTimeAsync(400);
  }
  expect(state.wakes).toBe(0);
  await vi.advanceTimersByTimeAsync(100);
  expect(state.wakes).toBe(1);
});

test('a stream of messages delays a wake by ten seconds at most', async () => {
  const { waker, state } = start();
  for (let count = 0; count < 25; count += 1) {
    waker.notify();
    await vi.advanceTimersByTimeAsync(400);
  }
  expect(state.wakes).toBe(1);
});

test('a pending wake prevents others; messages that arrive meanwhile cause one more', async () => {
  const { waker, state, end } = start();
  waker.notify();
  await vi.advanceTimersByTimeAsync(500);
  for (let count = 0; count < 10; count += 1) {
    waker.notify();
    await vi.advanceTimersByTimeAsync(5_000);
  }
  expect(state.wakes).toBe(1);
  end();
  await vi.advanceTimersByTimeAsync(500);
  expect(state.wakes).toBe(2);
  end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(state.wakes).toBe(2);
});

test('without waiting messages there is no wake, also in an idle hour', async () => {
  const { waker, state } = start({ messages: 0, threads: 0, requests: 0 });
  waker.notify();
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(state.wakes).toBe(0);
});

test('after an error the next message causes a wake, and a stopped waker does nothing', async () => {
  const errors: unknown[] = [];
  const fail = async () => {
    throw new Error('no way in');
  };
  const waker = createWaker({
    gatherMs: 500,
    maxGatherMs: 10_000,
    count: async () => one,
    wake: fail,
    onError: (error) => void errors.push(error),
  });
  for (let count = 0; count < 2; count += 1) {
    waker.notify();
    await vi.advanceTimersByTimeAsync(500);
  }
  expect(errors).toHaveLength(2);
  await waker.stop();
  waker.notify();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(errors).toHaveLength(2);
});

test('the text contains only counts', () => {
  expect(describeCounts(one)).toBe('You have 1 unread message in 1 thread. Read your inbox.');
  expect(describeCounts({ messages: 3, threads: 2, requests: 1 })).toBe(
    'You have 3 unread messages in 2 threads and 1 contact request. Read your inbox.',
  );
  expect(describeCounts({ messages: 0, threads: 0, requests: 2 })).toBe(
    'You have 2 contact requests. Read your inbox.',
  );
});
