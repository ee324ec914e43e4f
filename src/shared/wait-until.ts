import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks `check` every `every` ms until it says yes.
 * @returns false when `within` ms went by first.
 * @throws whatever `check` throws, and the abort reason once `signal` aborts.
 */
export async function waitUntil(
  check: () => boolean | Promise<boolean>,
  options: { timeoutMs: number; intervalMs?: number; signal?: AbortSignal },
): Promise<boolean> {
  const deadline = Date.now() + options.timeoutMs;
  for (;;) {
    options.signal?.throwIfAborted();
    if (await check()) return true;
    if (Date.now() >= deadline) return false;
    await sleep(options.intervalMs ?? 10);
  }
}
