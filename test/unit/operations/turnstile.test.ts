import { afterEach, expect, test, vi } from 'vitest';
import { createTurnstile } from '../../../src/operations/turnstile.ts';

afterEach(() => {
  vi.useRealTimers();
});

function held() {
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { gate, release };
}

test('tasks of one key pass one after the other, those of another key do not wait', async () => {
  const turnstile = createTurnstile();
  const { gate, release } = held();
  const order: string[] = [];
  const note = (name: string) => () => Promise.resolve(void order.push(name));
  const first = turnstile.pass('a', () => gate.then(note('first')));
  const second = turnstile.pass('a', note('second'));
  await turnstile.pass('b', note('other'));
  expect(order).toEqual(['other']);
  release();
  await Promise.all([first, second]);
  expect(order).toEqual(['other', 'first', 'second']);
});

test('a task that fails tells its own caller only, and the next one passes', async () => {
  const turnstile = createTurnstile();
  const { gate, release } = held();
  const first = turnstile.pass('a', () => gate.then(() => Promise.reject(new Error('mine'))));
  const second = turnstile.pass('a', () => Promise.resolve('fine'));
  release();
  await expect(first).rejects.toThrow('mine');
  await expect(second).resolves.toBe('fine');
});

test('whoever waits ten seconds is told that the first request still runs', async () => {
  vi.useFakeTimers();
  const turnstile = createTurnstile();
  const { gate, release } = held();
  const first = turnstile.pass('a', () => gate);
  const second = expect(turnstile.pass('a', () => Promise.resolve())).rejects.toMatchObject({
    code: 'IDEMPOTENCY_IN_PROGRESS',
    status: 409,
    retry_after: 1,
  });
  await vi.advanceTimersByTimeAsync(10_000);
  await second;
  release();
  await first;
});
