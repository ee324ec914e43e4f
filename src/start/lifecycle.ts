import type { Logger } from '../platform/observability/logger.ts';
import { withTimeout } from '../shared/timeout.ts';

export interface Lifecycle {
  /**
   * Registers how to stop a part; parts stop in the reverse order of their registration, each within its limit. A part that
   * waits for others only to be polite waits no longer than until `haste` aborts.
   */
  onStop(part: string, limit_ms: number, stop: (haste: AbortSignal) => Promise<void>): void;
  /**
   * Stops everything once; later calls wait for the first, and hasten it unless they are polite too. Answers whether every part
   * stopped in time and without a fault.
   */
  stop(reason: string, how?: { isGraceful: boolean }): Promise<boolean>;
}

/** Start and stop in phases: what was started last stops first, and no part can hold up the others for ever. */
export function createLifecycle(logger: Logger): Lifecycle {
  const parts: { part: string; limit_ms: number; stop: (haste: AbortSignal) => Promise<void> }[] = [];
  const haste = new AbortController();
  let stopping: Promise<boolean> | undefined;

  async function stopAll(reason: string): Promise<boolean> {
    logger.info({ reason }, 'stopping');
    let clean = true;
    for (const { part, limit_ms, stop } of parts.toReversed()) {
      try {
        await withTimeout(limit_ms, stop(haste.signal), () => {
          throw new Error(`not stopped after ${limit_ms} ms`);
        });
      } catch (error) {
        clean = false;
        logger.error({ err: error, stopping: part }, 'a part did not stop cleanly');
      }
    }
    logger.info({ clean }, 'stopped');
    return clean;
  }

  return {
    onStop(part, limit_ms, stop) {
      parts.push({ part, limit_ms, stop });
    },
    stop(reason, { isGraceful } = { isGraceful: false }) {
      if (!isGraceful) haste.abort();
      stopping ??= stopAll(reason);
      return stopping;
    },
  };
}
