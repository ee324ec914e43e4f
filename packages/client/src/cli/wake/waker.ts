import { type Counts, isEmpty } from './counts.ts';

export interface WakerParts {
  /** How long nothing must arrive before a wake, in milliseconds. */
  gatherMs: number;
  /** How long a wake is put off while more arrives. */
  maxGatherMs: number;
  count(): Promise<Counts>;
  /** Starts a turn. Resolves when the wake is consumed: only then another one can start. */
  wake(counts: Counts): Promise<void>;
  /** Called when counting or waking fails. The next event tries again. */
  onError(error: unknown): void;
}

/** Starts turns of an agent. */
export interface Waker {
  /** Something arrived. */
  notify(): void;
  /** No further wake starts. Resolves when the present one has ended. */
  stop(): Promise<void>;
}

/**
 * Gathers what arrives and starts one wake at a time. What arrives during a wake leads to one more after it, if something still waits then.
 * Nothing that waits: no wake.
 */
export function createWaker({ gatherMs, maxGatherMs, count, wake, onError }: WakerParts): Waker {
  let timer: NodeJS.Timeout | undefined;
  let firstAt: number | undefined;
  let running: Promise<void> | undefined;
  let isStopped = false;

  function schedule(): void {
    if (isStopped || running) return;
    const now = Date.now();
    firstAt ??= now;
    clearTimeout(timer);
    timer = setTimeout(start, Math.max(0, Math.min(gatherMs, firstAt + maxGatherMs - now)));
  }

  function start(): void {
    firstAt = undefined;
    running = runOnce()
      .catch(onError)
      .finally(() => {
        running = undefined;
        if (firstAt !== undefined) schedule();
      });
  }

  async function runOnce(): Promise<void> {
    const counts = await count();
    // The agent may have read everything meanwhile.
    if (!isEmpty(counts) && !isStopped) await wake(counts);
  }

  return {
    notify() {
      if (running) firstAt ??= Date.now();
      else schedule();
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
