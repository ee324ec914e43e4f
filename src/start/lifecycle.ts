import type { Logger } from '../platform/observability/logger.ts';
import { withTimeout } from '../shared/timeout.ts';

export interface Lifecycle {
  /**
   * Registers how to stop a part. Parts stop in reverse order, each within its limit. A part that only waits for clients must stop
   * waiting when `haste` aborts.
   */
  onStop(part: string, limit_ms: number, stop: (haste: AbortSignal) => Promise<void>): void;
  /**
   * Stops everything once. Later calls await the first one and abort `haste`, unless they are graceful too. Returns whether every part
   * stopped in time and without an error.
   */
  stop(reason: string, options?: { isGraceful: boolean }): Promise<boolean>;
}

/** Stops parts in phases: the last one first, and none can delay the others longer than its limit. */
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
