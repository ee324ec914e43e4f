import type { Core } from '../compose.ts';
import { maxClockDifferenceMs, steadyNow } from '../shared/clock.ts';
import { createWarningLog } from './connections.ts';
import type { Lifecycle } from './lifecycle.ts';

const intervalMs = 30_000;
/** How often the process looks whether its clock was set, in milliseconds. */
const jumpCheckMs = 1_000;

/** Measures how far the clock of this process is from that of the database, now and regularly. Never rejects. */
export async function startClock(core: Core, lifecycle: Lifecycle): Promise<void> {
  const { clock, logger, metrics } = core;
  const log = createWarningLog(logger);
  let isWrong = false;
  async function measure(): Promise<void> {
    try {
      const difference = await clock.measure();
      metrics.clockDifference.set(difference / 1_000);
      const wasWrong = isWrong;
      isWrong = Math.abs(difference) > maxClockDifferenceMs;
      if (isWrong && !wasWrong)
        logger.warn(
          { database_ahead_ms: difference },
          'the clocks of this machine and of the database differ',
        );
    } catch (error) {
      log('cannot compare the clock with that of the database', error);
    }
  }
  await measure();
  const timer = setInterval(() => void measure(), intervalMs).unref();
  // After the machine was suspended, the time of the process is late until it is measured.
  let aheadMs = Date.now() - steadyNow();
  const jumpTimer = setInterval(() => {
    const before = aheadMs;
    aheadMs = Date.now() - steadyNow();
    if (Math.abs(aheadMs - before) > maxClockDifferenceMs) void measure();
  }, jumpCheckMs).unref();
  lifecycle.onStop('clock', 1_000, async () => {
    clearInterval(timer);
    clearInterval(jumpTimer);
  });
}
