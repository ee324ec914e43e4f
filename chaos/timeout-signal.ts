/**
 * A signal that aborts after `ms` milliseconds, or with another signal. Node 20 can garbage-collect the parts of `AbortSignal.any`,
 * and a timer among them then never fires. This signal is referenced by its timer.
 */
export function timeoutSignal(ms: number, signal: AbortSignal): AbortSignal {
  const over = new AbortController();
  const end = () => over.abort();
  setTimeout(end, ms).unref();
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  return over.signal;
}
