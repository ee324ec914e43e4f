/** Milliseconds between two looks: what somebody waits for after a decision elsewhere. */
const pollIntervalMs = 1_000;

/** Looks now and then whether something is settled; the signal aborts when it is. To be stopped by whoever began it. */
export function pollUntil(isSettled: () => Promise<boolean>): { signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  let timer = setTimeout(() => void look(), pollIntervalMs);
  let stopped = false;

  async function look(): Promise<void> {
    // A look that fails tells nothing; the next one may.
    if (await isSettled().catch(() => false)) controller.abort();
    else if (!stopped) timer = setTimeout(() => void look(), pollIntervalMs);
  }

  return {
    signal: controller.signal,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
