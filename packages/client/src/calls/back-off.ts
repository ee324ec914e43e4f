/** The longest wait between two attempts. */
const maxDelayMs = 30_000;

/**
 * Returns how long to wait before the next attempt: full jitter, so that clients that failed together do not return together.
 * @param failures attempts that failed in a row, from 1
 */
export function backOffMs(failures: number, firstMs = 250): number {
  return Math.random() * Math.min(maxDelayMs, firstMs * 2 ** failures);
}

/** Waits until the time is over or the signal is aborted. The caller checks the signal. */
export async function waitOrAbort(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Waits. An aborted signal ends the wait with its reason. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
