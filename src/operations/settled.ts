/** Milliseconds between two looks: what somebody waits for after a decision elsewhere. */
const interval_ms = 1_000;

/** Looks now and then whether something is settled; the signal aborts when it is. To be stopped by whoever began it. */
export function whenSettled(isSettled: () => Promise<boolean>): { signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  let timer = setTimeout(() => void look(), interval_ms);
  let stopped = false;

  async function look(): Promise<void> {
    // A look that fails tells nothing; the next one may.
    if (await isSettled().catch(() => false)) controller.abort();
    else if (!stopped) timer = setTimeout(() => void look(), interval_ms);
  }

  return {
    signal: controller.signal,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
