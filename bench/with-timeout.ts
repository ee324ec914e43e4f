/**
 * Waits for `work`, but not for ever: the benchmark must end, and say what it waited for when it cannot go on. In milliseconds.
 * @throws when it took longer, and the abort reason once `signal` aborts. The work itself is not stopped.
 */
export async function withTimeout<T>(
  what: string,
  limit_ms: number,
  work: Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${limit_ms / 1000} s for ${what}`)), limit_ms);
    const stop = () => reject(signal?.reason instanceof Error ? signal.reason : new Error('interrupted'));
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true, signal: over.signal });
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}
