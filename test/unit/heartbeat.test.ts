import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startHeartbeat } from '../../workers/heartbeat.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the log hears when signs of life begin to fail and when they are written again, not at each beat', async () => {
  const heard: string[] = [];
  let works = true;
  let asked = 0;
  const answer = () => {
    asked += 1;
    return works ? Promise.resolve() : Promise.reject(new Error('the database is away'));
  };
  const stop = await startHeartbeat({
    config: { WORKER_ROLES: ['delivery'] },
    repositories: { workerNodes: { upsert: answer, remove: answer } },
    logger: { warn: (_facts: object, message?: string) => void heard.push(message ?? '') },
  });
  const beats = (count: number) => vi.advanceTimersByTimeAsync(count * 5_000);
  await beats(3);
  expect([asked, heard]).toEqual([4, []]);

  works = false;
  await beats(1);
  const began = 'worker heartbeat failed; doctor may report this worker as dead';
  expect(heard).toEqual([began]);
  await beats(3);
  expect([asked, heard]).toEqual([8, [began]]);

  works = true;
  await beats(2);
  expect(heard).toEqual([began, 'worker heartbeat resumed']);

  works = false;
  await stop();
  expect(heard.slice(2)).toEqual([began]);
  await beats(2);
  expect(asked).toBe(11);
});
