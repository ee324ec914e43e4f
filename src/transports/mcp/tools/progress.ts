export interface ProgressOptions {
  /** Told from time to time how long the wait has lasted, in seconds. */
  progress?: ((waited: number, of: number) => void) | undefined;
  /** How often, in ms. */
  progress_ms: number;
}

/** Time between two reports, in ms, where nobody says another. */
export const defaultProgressMs = 5_000;

/** Waits, and reports meanwhile to a client that asked for it: many give a call up that says nothing for a while (MCP, Progress). */
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
