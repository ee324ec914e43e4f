import { expect, test, vi } from 'vitest';
import { createConcurrencyLimiter } from '../../../src/shared/concurrency-limiter.ts';
import { useFakeTimers } from '../../support/fake-timers.ts';

const createError = () => new Error('waited too long');

function createHeldTask() {
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { gate, release };
}

test('tasks of one key run one after the other, and those of another key do not wait', async () => {
  const limiter = createConcurrencyLimiter({ maxConcurrent: 1, timeoutMs: 10_000, createError });
  const { gate, release } = createHeldTask();
  const order: string[] = [];
  const note = (name: string) => () => Promise.resolve(void order.push(name));
  const first = limiter.run('a', () => gate.then(note('first')));
  const second = limiter.run('a', note('second'));
  await limiter.run('b', note('other'));
  expect(order).toEqual(['other']);
  release();
  await Promise.all([first, second]);
  expect(order).toEqual(['other', 'first', 'second']);
});

test('a failing task rejects only its own caller, and the next one runs', async () => {
  const limiter = createConcurrencyLimiter({ maxConcurrent: 1, timeoutMs: 10_000, createError });
  const { gate, release } = createHeldTask();
  const first = limiter.run('a', () => gate.then(() => Promise.reject(new Error('mine'))));
  const second = limiter.run('a', () => Promise.resolve('fine'));
  release();
  await expect(first).rejects.toThrow('mine');
  await expect(second).resolves.toBe('fine');
});

test('as many tasks run at once as the limit allows', async () => {
  const limiter = createConcurrencyLimiter({ maxConcurrent: 2, timeoutMs: 10_000, createError });
  const { gate, release } = createHeldTask();
  let inside = 0;
  let maxRunning = 0;
  const tasks = Array.from({ length: 6 }, () =>
    limiter.run('a', async () => {
      inside += 1;
      maxRunning = Math.max(maxRunning, inside);
      await gate;
      inside -= 1;
    }),
  );
  release();
  await Promise.all(tasks);
  expect([maxRunning, inside]).toEqual([2, 0]);
});

test('a task that has waited for ten seconds is rejected, and the next one takes its place', async () => {
  await useFakeTimers();
  const limiter = createConcurrencyLimiter({ maxConcurrent: 1, timeoutMs: 10_000, createError });
  const { gate, release } = createHeldTask();
  const first = limiter.run('a', () => gate);
  const second = expect(limiter.run('a', () => Promise.resolve('late'))).rejects.toThrow('waited too long');
  await vi.advanceTimersByTimeAsync(9_000);
  const third = limiter.run('a', () => Promise.resolve('in time'));
  await vi.advanceTimersByTimeAsync(1_000);
  await second;
  release();
  await first;
  expect(await third).toBe('in time');
});

test('a task is rejected at once when too many others wait', async () => {
  const limiter = createConcurrencyLimiter({ maxConcurrent: 1, maxWaiting: 1, createError });
  const { gate, release } = createHeldTask();
  const first = limiter.run('a', () => gate);
  const second = limiter.run('a', () => Promise.resolve('second'));
  await expect(limiter.run('a', () => Promise.resolve('third'))).rejects.toThrow('waited too long');
  release();
  await first;
  expect(await second).toBe('second');
});
