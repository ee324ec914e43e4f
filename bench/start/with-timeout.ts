/**
 * Waits for `work` at most `limit_ms` milliseconds. The error names what the benchmark waited for. The work itself is not stopped.
 * @throws on timeout, and the abort reason once `signal` aborts.
 */
export async function withTimeout<T>(
  what: string,
  limit_ms: number,
  work: Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const done = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${limit_ms / 1000} s for ${what}`)), limit_ms);
    const stop = () => reject(signal?.reason instanceof Error ? signal.reason : new Error('interrupted'));
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true, signal: done.signal });
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
    done.abort();
  }
}
