import { beforeEach, expect, test, vi } from 'vitest';
import type { Core } from '../../src/compose.ts';
import { startInstanceGuard } from '../../src/start/instance-guard.ts';
import { useFakeTimers } from '../support/fake-timers.ts';

beforeEach(useFakeTimers);

test('a failing heartbeat is logged once, and its recovery once', async () => {
  const logged: string[] = [];
  let works = false;
  const parts = {
    config: { SECRETS: ['a secret'], REDIS_PREFIX: 'ams' },
    db: {
      signingKeys: { list: () => Promise.resolve([]) },
      feedEpoch: { identifyDatabase: () => Promise.resolve({ name: 'one', place: 'here' }) },
    },
    queues: { instances: () => (works ? Promise.resolve([]) : Promise.reject(new Error('away'))) },
    logger: { warn: (_facts: object, message?: string) => void logged.push(message ?? '') },
  };
  const leave = await startInstanceGuard(parts as unknown as Core, 1_000);
  const advance = (count: number) => vi.advanceTimersByTimeAsync(count * 1_000);
  await advance(3);
  const failing =
    'cannot register in the queues: another instance with this REDIS_PREFIX would not be detected';
  expect(logged).toEqual([failing]);
  works = true;
  await advance(3);
  expect(logged).toEqual([failing, 'registered in the queues again']);
  leave();
  works = false;
  await advance(3);
  expect(logged).toHaveLength(2);
});
