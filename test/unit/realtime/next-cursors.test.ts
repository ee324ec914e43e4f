import { beforeEach, expect, test, vi } from 'vitest';
import { createNextCursors } from '../../../src/realtime/feed/next-cursors.ts';
import { useFakeTimers } from '../../support/fake-timers.ts';

beforeEach(useFakeTimers);

/** Cursors that tell what they were asked for. */
function counted(agents = 1_000) {
  const signed: string[] = [];
  const encodeFeed = (agentId: string, number: number) => {
    signed.push(`${agentId}${number}`);
    return `cursor of ${agentId}${number}`;
  };
  return { signed, ...createNextCursors({ encodeFeed }, agents) };
}

test('the next cursor of every recent reader is computed while the process is idle', async () => {
  const { signed, encodeFeed } = counted();
  const names = Array.from({ length: 120 }, (_, number) => `agent-${number}-`);
  for (const name of names) expect(encodeFeed(name, 1)).toBe(`cursor of ${name}1`);
  await vi.advanceTimersByTimeAsync(50);
  expect(signed.splice(0)).toEqual([...names.map((name) => `${name}1`), ...names.map((name) => `${name}2`)]);
  for (const name of names) expect(encodeFeed(name, 2)).toBe(`cursor of ${name}2`);
  expect(signed).toEqual([]);
});

test('an unexpected position gets its own cursor', async () => {
  const { encodeFeed } = counted();
  encodeFeed('a', 1);
  await vi.advanceTimersByTimeAsync(50);
  expect([7, 1, 2].map((number) => encodeFeed('a', number))).toEqual([
    'cursor of a7',
    'cursor of a1',
    'cursor of a2',
  ]);
});

test('no cursor is computed ahead while requests arrive', async () => {
  const { signed, encodeFeed } = counted();
  for (let number = 1; number <= 20; number += 1) {
    encodeFeed('a', number);
    await vi.advanceTimersByTimeAsync(2);
  }
  expect(signed).toHaveLength(20);
  await vi.advanceTimersByTimeAsync(50);
  expect(signed.at(-1)).toBe('a21');
  expect(signed).toHaveLength(21);
});

test('the number of kept cursors is limited', async () => {
  const { signed, encodeFeed } = counted(2);
  for (const name of ['a', 'b', 'c', 'd']) encodeFeed(name, 1);
  await vi.advanceTimersByTimeAsync(50);
  expect(signed).toEqual(['a1', 'b1', 'c1', 'd1', 'a2', 'b2']);
  encodeFeed('c', 2);
  await vi.advanceTimersByTimeAsync(50);
  expect(signed.slice(6)).toEqual(['c2', 'c3']);
  encodeFeed('c', 3);
  expect(signed).toHaveLength(8);
});
