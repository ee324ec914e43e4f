import { expect, test, vi } from 'vitest';
import { DomainError } from '../../../src/domain/errors.ts';
import { beat_ms, onTheBeat } from '../../../src/operations/beat.ts';

const notFound = new DomainError('AGENT_NOT_FOUND', 'No such agent');

/** How long the answer takes when finding it out takes `work_ms`, by a clock of the test's own. */
async function answerTime(work_ms: number, outcome: Error | 'found'): Promise<number> {
  vi.useFakeTimers();
  try {
    const began = performance.now();
    let took = NaN;
    const call = onTheBeat(async () => {
      await new Promise((resolve) => setTimeout(resolve, work_ms));
      if (outcome !== 'found') throw outcome;
      return outcome;
    }).then(
      () => (took = performance.now() - began),
      (error: unknown) => {
        expect(error).toBe(outcome);
        took = performance.now() - began;
      },
    );
    await vi.runAllTimersAsync();
    await call;
    return took;
  } finally {
    vi.useRealTimers();
  }
}

test('what is not found is answered on a beat, however long it took to find that out', async () => {
  for (const work_ms of [1, 5, 13, beat_ms - 1]) expect(await answerTime(work_ms, notFound)).toBe(beat_ms);
  expect(await answerTime(beat_ms + 1, notFound)).toBe(2 * beat_ms);
});

test('nothing else waits', async () => {
  expect(await answerTime(3, 'found')).toBe(3);
  expect(await answerTime(3, new DomainError('FORBIDDEN', 'No'))).toBe(3);
  expect(await answerTime(3, new Error('a fault'))).toBe(3);
});
