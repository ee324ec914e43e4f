import { expect, test } from 'vitest';
import { createKeyedMutex } from '../../../src/shared/keyed-mutex.ts';

/** Something that is done until it is told to end. */
function work() {
  const ends: (() => void)[] = [];
  return { run: () => new Promise<void>((end) => ends.push(end)), ends };
}

test('one caller runs at a time; a concurrent caller is turned away, and the running one learns of it', async () => {
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

test('the next caller can run after a success and after a failure', async () => {
  const turns = createKeyedMutex();
  await expect(turns.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const { run, ends } = work();
  const next = turns.run('a', run);
  expect(ends).toHaveLength(1);
  ends[0]?.();
  expect(await next).toBe(false);
});
