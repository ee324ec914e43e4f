import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Core } from '../../src/compose.ts';
import { startInstanceGuard } from '../../src/start/instance-guard.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('logs once that the instance cannot be registered, and once that it can be again', async () => {
  const logged: string[] = [];
  let works = false;
  const parts = {
    config: { SECRET_KEY: 'a secret', REDIS_PREFIX: 'ams' },
    repositories: { feedEpoch: { identifyDatabase: () => Promise.resolve({ name: 'one', place: 'here' }) } },
    queues: { instances: () => (works ? Promise.resolve([]) : Promise.reject(new Error('away'))) },
    logger: { warn: (_facts: object, message?: string) => void logged.push(message ?? '') },
  };
  const leave = await startInstanceGuard(parts as unknown as Core, 1_000);
  const beats = (count: number) => vi.advanceTimersByTimeAsync(count * 1_000);
  await beats(3);
  const failing =
    'not said who uses the queues: another installation under this REDIS_PREFIX would not be seen';
  expect(logged).toEqual([failing]);
  works = true;
  await beats(3);
  expect(logged).toEqual([failing, 'it is said again who uses the queues']);
  leave();
  works = false;
  await beats(3);
  expect(logged).toHaveLength(2);
});
