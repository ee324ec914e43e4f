/** A sleep that can be ended early. One at a time. */
export interface WakeableSleep {
  /** Resolves after `ms`, at `wake`, or at the abort of the signal, whichever is first. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
  wake(): void;
}

/** Creates a sleep for one waiting call. */
export function createWakeableSleep(): WakeableSleep {
  let end: (() => void) | undefined;

  return {
    sleep(ms, signal) {
      return new Promise((resolve) => {
        const timer = setTimeout(done, ms);
        signal?.addEventListener('abort', done);
        end = done;
        function done(): void {
          end = undefined;
          clearTimeout(timer);
          signal?.removeEventListener('abort', done);
          resolve();
        }
      });
    },
    wake: () => end?.(),
  };
}
