import { expect, test } from 'vitest';
import { createKeyedMutex } from '../../../src/shared/keyed-mutex.ts';

/** Something that is done until it is told to end. */
function work() {
  const ends: (() => void)[] = [];
  return { run: () => new Promise<void>((end) => ends.push(end)), ends };
}

test('one does it at a time; who comes meanwhile is sent away, and it is said that somebody came', async () => {
  const turns = createKeyedMutex();
  const { run, ends } = work();
  const first = turns.run('a', run);
  expect(await turns.run('a', run)).toBe(false);
  expect(ends).toHaveLength(1);
  const other = turns.run('b', run);
  expect(ends).toHaveLength(2);
  for (const end of ends) end();
  expect([await first, await other]).toEqual([true, false]);
});

test('the next one may do it when it is done, and when it failed', async () => {
  const turns = createKeyedMutex();
  await expect(turns.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const { run, ends } = work();
  const next = turns.run('a', run);
  expect(ends).toHaveLength(1);
  ends[0]?.();
  expect(await next).toBe(false);
});
