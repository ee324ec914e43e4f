/**
 * A signal that aborts after so many milliseconds, or with another one. Node 20 may collect the parts of `AbortSignal.any` as
 * garbage, and a timer among them never fires; this one is held by its timer.
 */
export function timeoutSignal(ms: number, signal: AbortSignal): AbortSignal {
  const over = new AbortController();
  const end = () => over.abort();
  setTimeout(end, ms).unref();
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  return over.signal;
}
