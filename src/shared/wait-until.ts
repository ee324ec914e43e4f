import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  /** Default: no limit. */
  timeoutMs?: number;
  /** Default 10. */
  intervalMs?: number;
  signal?: AbortSignal;
}

/**
 * Repeats `check` until it returns true.
 * @returns false when `timeoutMs` passed first.
 * @throws what `check` throws, and the abort reason of `signal`.
 */
export async function waitUntil(
  check: () => boolean | Promise<boolean>,
  { timeoutMs = Number.POSITIVE_INFINITY, intervalMs = 10, signal }: WaitOptions = {},
): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    if (await check()) return true;
    if (Date.now() >= deadline) return false;
    await sleep(intervalMs, undefined, { signal }).catch(() => signal?.throwIfAborted());
  }
}

/**
 * @returns a signal that aborts once `check` returns true. A check that fails is repeated. Call `stop` when the signal is not needed
 * any more.
 */
export function abortWhen(
  check: () => Promise<boolean>,
  intervalMs: number,
): { signal: AbortSignal; stop(): void } {
  const done = new AbortController();
  const stopped = new AbortController();
  const isDone = () => check().catch(() => false);
  waitUntil(isDone, { intervalMs, signal: stopped.signal }).then(
    () => done.abort(),
    () => undefined, // `stop` was called
  );
  return { signal: done.signal, stop: () => stopped.abort() };
}
