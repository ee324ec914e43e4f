import { describe, expect, test } from 'vitest';
import {
  canTransition,
  type ThreadStatus,
  threadStatuses,
} from '../../../packages/core/src/domain/threads.ts';

/** Every way there is; all others are refused. */
const ways: [from: ThreadStatus, to: ThreadStatus][] = [
  ['active', 'closed'],
  ['active', 'archived'],
  ['closed', 'active'],
  ['closed', 'archived'],
  ['archived', 'active'],
];
const pairs = threadStatuses.flatMap((from) => threadStatuses.map((to) => [from, to] as const));

describe('a thread', () => {
  test.each(pairs)('from %s to %s', (from, to) => {
    expect(canTransition(from, to)).toBe(ways.some(([a, b]) => a === from && b === to));
  });

  test('has three statuses', () => {
    expect(threadStatuses).toEqual(['active', 'closed', 'archived']);
  });
});
