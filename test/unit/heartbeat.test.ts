import { beforeEach, expect, test, vi } from 'vitest';
import { startHeartbeat } from '../../workers/heartbeat.ts';
import { useFakeTimers } from '../support/fake-timers.ts';

beforeEach(useFakeTimers);

test('a heartbeat logs its first failure and its recovery, not each failure', async () => {
  const logged: string[] = [];
  let works = true;
  let writes = 0;
  const answer = () => {
    writes += 1;
    return works ? Promise.resolve() : Promise.reject(new Error('the database is away'));
  };
  const stop = await startHeartbeat({
    config: { WORKER_ROLES: ['delivery'] },
    db: { workerNodes: { upsert: answer, remove: answer } },
    logger: { warn: (_facts: object, message?: string) => void logged.push(message ?? '') },
  });
  const advanceIntervals = (count: number) => vi.advanceTimersByTimeAsync(count * 5_000);
  await advanceIntervals(3);
  expect([writes, logged]).toEqual([4, []]);

  works = false;
  await advanceIntervals(1);
  const failed = 'worker heartbeat failed; doctor may report this worker as dead';
  expect(logged).toEqual([failed]);
  await advanceIntervals(3);
  expect([writes, logged]).toEqual([8, [failed]]);

  works = true;
  await advanceIntervals(2);
  expect(logged).toEqual([failed, 'worker heartbeat resumed']);

  works = false;
  await stop();
  expect(logged.slice(2)).toEqual([failed]);
  await advanceIntervals(2);
  expect(writes).toBe(11);
});
