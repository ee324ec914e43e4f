import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks `check` every `every` ms until it says yes.
 * @returns false when `within` ms went by first.
 * @throws whatever `check` throws, and the abort reason once `signal` aborts.
 */
export async function until(
  check: () => boolean | Promise<boolean>,
  options: { within: number; every?: number; signal?: AbortSignal },
): Promise<boolean> {
  const deadline = Date.now() + options.within;
  for (;;) {
    options.signal?.throwIfAborted();
    if (await check()) return true;
    if (Date.now() >= deadline) return false;
    await sleep(options.every ?? 10);
  }
}
