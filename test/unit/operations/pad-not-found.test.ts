import { beforeEach, expect, test, vi } from 'vitest';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Answer, CallContext } from '../../../src/operations/execute/context.ts';
import { padIntervalMs, padNotFound } from '../../../src/operations/execute/pad-not-found.ts';
import type { Operation } from '../../../src/operations/define.ts';
import { useFakeTimers } from '../../support/fake-timers.ts';

beforeEach(useFakeTimers);

const answer: Answer = { body: '{}', output: {}, replayed: false };
const notFound = new DomainError('AGENT_NOT_FOUND', 'No such agent');

/** Milliseconds until the answer, when the work takes `work_ms`, by fake timers. */
async function measureResponseTime(
  work_ms: number,
  outcome: Error | 'found',
  operation: object = {},
): Promise<number> {
  const began = performance.now();
  let took = NaN;
  const pad = padNotFound(operation as Operation, async () => {
    await new Promise((resolve) => setTimeout(resolve, work_ms));
    if (outcome !== 'found') throw outcome;
    return answer;
  });
  const call = pad({} as CallContext).then(
    () => (took = performance.now() - began),
    (error: unknown) => {
      expect(error).toBe(outcome);
      took = performance.now() - began;
    },
  );
  await vi.advanceTimersByTimeAsync(work_ms + padIntervalMs);
  await call;
  return took;
}

test('"not found" is delayed to the end of an interval, however long the work took', async () => {
  for (const work_ms of [1, 5, 13, padIntervalMs - 1])
    expect(await measureResponseTime(work_ms, notFound)).toBe(padIntervalMs);
  expect(await measureResponseTime(padIntervalMs + 1, notFound)).toBe(2 * padIntervalMs);
});

test('other answers are not delayed', async () => {
  expect(await measureResponseTime(3, 'found')).toBe(3);
  expect(await measureResponseTime(3, new DomainError('FORBIDDEN', 'No'))).toBe(3);
  expect(await measureResponseTime(3, new Error('a fault'))).toBe(3);
});

test('a batch is delayed if a part of it was not found', async () => {
  expect(await measureResponseTime(3, 'found', { hasNotFound: () => true })).toBe(padIntervalMs);
  expect(await measureResponseTime(3, 'found', { hasNotFound: () => false })).toBe(3);
});
