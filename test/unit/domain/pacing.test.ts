import { expect, test } from 'vitest';
import { defaultPacing } from '../../../packages/core/src/domain/webhooks.ts';

test('a message to another system is repeated for three days, at least every quarter of an hour', () => {
  const { remoteScheduleMs } = defaultPacing;
  const totalMs = remoteScheduleMs.reduce((sum, pauseMs) => sum + pauseMs, 0);
  expect(totalMs / 86_400_000).toBeCloseTo(3, 1);
  expect(Math.max(...remoteScheduleMs)).toBe(900_000);
});
