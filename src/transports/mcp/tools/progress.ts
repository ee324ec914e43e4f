export interface ProgressOptions {
  /** Called every `progress_ms` with the elapsed and the total wait, in seconds. */
  progress?: ((elapsed: number, total: number) => void) | undefined;
  /** Time between calls, in ms. */
  progress_ms: number;
}

/** Default time between progress notifications, in ms. */
export const defaultProgressMs = 5_000;

/** Waits and reports progress, because many clients end a call that stays silent (MCP, Progress). */
export async function withProgress<T>(
  { progress, progress_ms }: ProgressOptions,
  wait_ms: number,
  wait: () => Promise<T>,
): Promise<T> {
  if (!progress || wait_ms === 0) return wait();
  const began = Date.now();
  const timer = setInterval(() => progress((Date.now() - began) / 1_000, wait_ms / 1_000), progress_ms);
  try {
    return await wait();
  } finally {
    clearInterval(timer);
  }
}
