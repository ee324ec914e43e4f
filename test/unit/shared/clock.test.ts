import { expect, onTestFinished, test, vi } from 'vitest';
import { createClock } from '../../../src/shared/clock.ts';

test('the clock follows that of the database', async () => {
  const clock = createClock(async () => Date.now() + 3_600_000);
  expect(clock.offsetMs()).toBe(0);
  const difference = await clock.measure();
  const all = [clock.offsetMs(), clock.steadyOffsetMs(), difference];
  expect(all.map((ms) => Math.round(ms / 1_000))).toEqual([3_600, 3_600, 3_600]);
  expect(Math.round((clock.now() - Date.now()) / 1_000)).toBe(3_600);
});

test('a difference that is too small to be real counts as none', async () => {
  const clock = createClock(async () => Date.now() - 20);
  expect(Math.abs(await clock.measure())).toBeLessThan(100);
  expect(clock.offsetMs()).toBe(0);
});

test('a database that does not respond leaves the last difference', async () => {
  const answers = [7_000, 7_000, 7_000];
  const clock = createClock(async () => {
    const ahead = answers.pop();
    if (ahead === undefined) throw new Error('away');
    return Date.now() + ahead;
  });
  await clock.measure();
  await expect(clock.measure()).rejects.toThrow('away');
  expect(Math.round(clock.offsetMs() / 1_000)).toBe(7);
});

test.each([3_600_000, -3_600_000])('setting the clock of the machine does not move it: %d ms', async (ms) => {
  const readSystemTime = Date.now.bind(Date);
  const clock = createClock(async () => readSystemTime());
  await clock.measure();
  const before = clock.now();
  const system = vi.spyOn(Date, 'now').mockImplementation(() => readSystemTime() + ms);
  onTestFinished(() => system.mockRestore());
  expect(Math.abs(clock.now() - before)).toBeLessThan(60_000);
  // For times that others take by the clock of the machine.
  expect(Math.round(clock.offsetMs() / 1_000)).toBe(-ms / 1_000);
});

test('the clock follows the small corrections of that of the machine', () => {
  const readSystemTime = Date.now.bind(Date);
  const clock = createClock(() => Promise.reject(new Error('away')));
  let behind = 0;
  const system = vi.spyOn(Date, 'now').mockImplementation(() => readSystemTime() - behind);
  onTestFinished(() => system.mockRestore());
  for (let count = 0; count < 20; count += 1) {
    behind += 50;
    clock.now();
  }
  // An event that is due by one clock is due by the other.
  expect(Math.abs(clock.now() - Date.now())).toBeLessThan(100);
});
