import { beforeEach, expect, test, vi } from 'vitest';
import { watchSigningKeys } from '../../../src/transports/oauth/signing-key-watcher.ts';
import { useFakeTimers } from '../../support/fake-timers.ts';

beforeEach(useFakeTimers);

const key = (kid: string) => ({ kty: 'EC' as const, kid });

function setUp() {
  const used: unknown[][] = [];
  const faults: unknown[] = [];
  const stored = { keys: [key('a')], fault: undefined as Error | undefined };
  const follower = watchSigningKeys([key('a')], {
    load: async () => {
      if (stored.fault) throw stored.fault;
      return stored.keys;
    },
    onChange: (keys) => void used.push(keys.map(({ kid }) => kid)),
    log: (_message, error) => void faults.push(error),
  });
  return { stored, follower, used, faults };
}

test('keys that have not changed change nothing', async () => {
  const { follower, used } = setUp();
  await follower.refresh();
  expect(used).toEqual([]);
  follower.stop();
});

test('a change takes effect after a notification, and within a minute without one', async () => {
  const { stored, follower, used } = setUp();
  stored.keys = [key('b'), key('a')];
  await follower.refresh();
  await follower.refresh();
  expect(used).toEqual([['b', 'a']]);
  stored.keys = [key('b')];
  await vi.advanceTimersByTimeAsync(60_000);
  expect(used).toEqual([['b', 'a'], ['b']]);
  follower.stop();
  stored.keys = [key('c')];
  await vi.advanceTimersByTimeAsync(600_000);
  expect(used).toHaveLength(2);
});

test('if the keys cannot be read, the present ones stay in use until they can', async () => {
  const { stored, follower, used, faults } = setUp();
  stored.fault = new Error('away');
  await follower.refresh();
  expect([used, faults]).toEqual([[], [stored.fault]]);
  stored.fault = undefined;
  stored.keys = [key('b')];
  await follower.refresh();
  expect(used).toEqual([['b']]);
  follower.stop();
});
